//! The messages about scenes in TOML: their syntax, keys, values, and what does not go together.

use super::Language;
use std::fmt::Display;

messages! {
    // Syntax.
    not_toml() "this is not TOML" "это не TOML";
    given_twice_in_table(name) "`{name}` is given twice in one table" "`{name}` указан в таблице дважды";
    each_key_once() "each key once" "каждый ключ один раз";
    several_begin_with(name) "where there are several, each begins with `[[{name}]]`" "если их несколько, каждая таблица начинается с `[[{name}]]`";
    comment_begins_with_hash() "a comment begins with `#`" "комментарий начинается с `#`";
    no_english_letter(letter) "`{letter}` is not an English letter, even if it looks like one: keys are written in English"
        "`{letter}` не латинская буква, даже если похожа на неё: ключи пишутся латиницей";
    equals_between(key, value) "`=` stands between a key and its value: {key} = {value}" "между ключом и значением стоит `=`: {key} = {value}";
    brackets_close(name) "as many brackets close as open: [[{name}]]" "сколько скобок открыто, столько и закрыто: [[{name}]]";
    nothing_behind(key, value) "nothing follows a value: {key} = {value}" "после значения ничего не стоит: {key} = {value}";
    own_lines() "each key stands on a line of its own" "каждый ключ стоит на своей строке";
    list_in_brackets(list) "a list stands in brackets: {list}" "список стоит в квадратных скобках: {list}";
    written_so(value, line) "this is written `{value}`: {line}" "это пишется как `{value}`: {line}";
    written_without_quotes(value, line) "this is written `{value}`, without quotes: {line}" "это пишется как `{value}`, без кавычек: {line}";
    straight_quotes(text) "quotation marks are straight: {text}" "кавычки нужны прямые: {text}";
    backslash(name) "a backslash in double quotes begins a special letter; single quotes leave it as it is: '{name}'"
        "обратная черта в двойных кавычках начинает особый знак; в одинарных она остаётся собой: '{name}'";
    color_in_quotes(text) "a color stands in quotes: {text}" "цвет пишется в кавычках: {text}";
    share_is(number) "a share is a number from 0 to 1: {number}" "доля: это число от 0 до 1: {number}";
    dashes(list) "these are dashes, not minus signs: {list}" "здесь тире, а не минусы: {list}";
    digits_on_both_sides(number) "digits stand on both sides of the point: {number}" "цифры стоят по обе стороны точки: {number}";
    text_in_quotes(text) "a text stands in quotes: {text}" "текст пишется в кавычках: {text}";
    quote_closes(quote) "the quotation mark that opens a text closes it in the same line: {quote}"
        "кавычка, открывшая текст, закрывает его в той же строке: {quote}";
    header_alone(header) "the name of a table stands alone in its line: {header}" "имя таблицы стоит в строке одно: {header}";
    header_is(header) "the name of a table stands in square brackets: {header}" "имя таблицы стоит в квадратных скобках: {header}";
    commas_in_lists(list) "commas stand between the elements of a list: {list}" "между элементами списка стоят запятые: {list}";
    no_value_behind(key) "a value follows `=`: `{key} = ...`" "после `=` стоит значение: `{key} = ...`";

    // Values.
    value_is(key, what) "`{key}` is {what}" "`{key}`: здесь {what}";
    value_holds(key, number) "`{key}` holds {number}" "`{key}`: среди чисел есть {number}";
    the_text(text) "the text {text}" "текст {text}";
    the_number(number) "the number `{number}`" "число `{number}`";
    a_date() "a date" "дата";
    a_list() "a list" "список";
    a_list_of(count) "a list of {count}" "список из {count}";
    one_table() "one table" "одна таблица";
    number_expected() "a number" "число";
    number_or_word() "a number or a word in quotes" "число или слово в кавычках";
    range_or_words(range, words) "{range}, or {words}" "{range} или {words}";
    list_of_numbers(count) "a list of {count} numbers" "список чисел, всего {count}";
    two_values(each) "two values, each {each}" "два значения, каждое: {each}";
    three_values(each) "three values, each {each}" "три значения, каждое: {each}";
    text_expected() "a text in quotes" "текст в кавычках";
    true_or_false() "true or false" "true или false";
    number_without_quotes(number) "a number stands without quotes: {number}" "число пишется без кавычек: {number}";
    commas_separate() "commas separate numbers; a decimal point is written `.`, as in 1.5"
        "запятые разделяют числа; дробную часть отделяет точка, как в 1.5";
    codes_are_written(code) "codes of 0 to 255 are written as {code}" "коды от 0 до 255 пишутся так: {code}";
    one_of_words(list) "one of {list}" "одно из: {list}";
    no_direction(key) "`{key}` has no direction" "у `{key}` нет направления";
    a_range_of_samples() "a range such as \"4..64\"" "диапазон, например \"4..64\"";
    a_range_up_to(limit) "a range such as \"4..64\", from 1 to {limit}" "диапазон, например \"4..64\", от 1 до {limit}";
    smaller_first(range) "the smaller number first: {range}" "сначала меньшее число: {range}";
    longer_vector(length) "a vector longer than {length}" "вектор длиннее {length}";
    a_color() "a list of 3 numbers, \"#rrggbb\", a color's name in quotes, or a number for a gray"
        "список из 3 чисел, \"#rrggbb\", английское имя цвета в кавычках или число для серого";
    no_alpha(color) "colors have no alpha: {color}; `transparency` lets light through a material"
        "у цветов нет прозрачности: {color}; свет сквозь материал пропускает `transparency`";
    three_or_six_digits() "a color has three or six digits of 0 to f" "в цвете три или шесть цифр от 0 до f";
    three_or_six_not(count) "a color has three or six digits of 0 to f, and this one has {count}" "в цвете три или шесть цифр от 0 до f, а здесь их {count}";
    did_you_mean_text(text) "did you mean {text}?" "возможно, вы имели в виду {text}?";
    no_such_solid(name) "there is no solid `{name}`" "тела `{name}` нет";
    no_such_sky(name) "there is no built-in sky `{name}`" "встроенного неба `{name}` нет";
    a_sky(names) "{names}, `none` or a picture (.hdr, .exr, .png, .jpg)" "{names}, `none` или картинка (.hdr, .exr, .png, .jpg)";
    no_such_map(name) "there is no built-in map `{name}`" "встроенной карты `{name}` нет";
    a_map(names) "{names} or a file" "{names} или файл";
    a_size_in_toml() "[WIDTH, HEIGHT], \"WIDTHxHEIGHT\" or a name such as \"1080p\", \"4k\" or \"vertical\""
        "[ширина, высота], \"ШИРИНАxВЫСОТА\" или имя, например \"1080p\", \"4k\" или \"vertical\"";

    share_of_clip() "it is a share of the clip: its first frame has 0, its middle 0.5" "это доля ролика: у первого кадра 0, в середине 0.5";
    keys_over_time(key) "a value over time is `{key} = {{ keys = [[0, ...], [1, ...]] }}`" "значение, которое меняется: `{key} = {{ keys = [[0, ...], [1, ...]] }}`";
    camera_moves() "a camera moves along [[camera.key]], or round [camera.orbit]" "камера движется по [[camera.key]] или по орбите [camera.orbit]";
    one_table_each(header) "each has a table {header} of its own" "у каждого своя таблица {header}";
    no_download() "files are read from this machine only: download it" "читаются только файлы этой машины: скачайте его";
    with_help(what, help) "{what}; {help}" "{what}; {help}";

    // Keys and tables.
    unknown_key(key) "unknown key `{key}`" "неизвестный ключ `{key}`";
    key_of_table() "a key of the table" "ключ этой таблицы";
    is_a_key_of(key, tables) "`{key}` is a key of {tables}" "ключ `{key}` есть в {tables}";
    has_no_key(table, key) "this {table} has no `{key}`" "в таблице {table} нет `{key}`";
    key_in_it(key) "`{key} = ...` in it" "`{key} = ...` в ней";
    stands_around(key) "`{key} = \"...\"` stands in the table around it, and its other keys beside it"
        "`{key} = \"...\"` стоит в таблице вокруг, и другие его ключи рядом с ним";
    are_the_same(first, second) "`{first}` and `{second}` are the same" "`{first}` и `{second}`: одно и то же";
    one_of_them() "one of them" "один из них";
    a_table_with(header) "a table: a line {header}, and its keys below" "таблица: строка {header} и её ключи под ней";
    table_has(header, keys) "{header} has {keys}" "ключи {header}: {keys}";
    two_brackets(header) "two brackets around the name, as in {header}: there may be several"
        "имя в двойных скобках, как в {header}: таблиц может быть несколько";
    table_of_names() "a table, whose values have names" "таблица, у значений которой есть имена";
    stands_in_both(key, first, second) "`{key}` stands in [{first}] and in [{second}]" "`{key}` стоит и в [{first}], и в [{second}]";
    it_only_in(table) "it in [{table}] only" "только в [{table}]";
    no_objects() "a [[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] or a [floor]"
        "[[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] или [floor]";
    prints_toml() "`polyfly --default toml` prints a whole scene" "`polyfly --default toml` печатает сцену целиком";
    it_beside(what) "it beside {what}" "этот ключ рядом с {what}";
    it_without(why) "it without: {why}" "сцена без него: {why}";
    beside(key, other) "`{key}` beside `{other}`" "`{key}` вместе с `{other}`";

    // Files.
    path_is(key, path) "`{key}` is `{path}`" "`{key}`: здесь `{path}`";
    name_with_ending(endings) "a name that ends in {endings}" "имя с расширением {endings}";
    place_for_numbers(frames, example) "a place for the number of each of {frames} frames, as in `{example}`"
        "место для номера кадра (всего их {frames}), как в `{example}`";
    names_no_format(path) "`path` is `{path}`, which names no format" "`path`: в `{path}` не назван формат";
    path_names_frames(video) "`path` names the frames; `video = {video}` makes a film" "`path` называет кадры; ролик создаёт `video = {video}`";

    // Bodies, materials and what lies on them.
    no_lamp_cycles() "steady lamps have no `lamp_cycles`" "у постоянных ламп нет `lamp_cycles`";
    a_lamp_pattern() "`lamp_pattern` beside it: \"pulse\", \"hue\" or \"chase\"" "рядом с ним `lamp_pattern`: \"pulse\", \"hue\" или \"chase\"";
    material_has_no(key) "this material has no `{key}`" "у этого материала нет `{key}`";
    no_more_than(keys) "no more than {keys}" "не больше чем {keys}";
    coat_is_on_opaque() "`coat` and `transparency`: a coat lies on opaque surfaces" "`coat` и `transparency`: покрытие лежит на непрозрачном";
    occlusion_is_of_whitted() "only `integrator = \"whitted\"` takes occlusion rays for ambient light" "лучи затенения для рассеянного света есть только при `integrator = \"whitted\"`";
    fading_floor_has_no_coat() "a floor that fades within its bounds has no coat" "пол, который тает в своих границах, не имеет покрытия";
    endless_or_no_fade() "`size = \"infinite\"`, `fade = 0` or no `coat`" "`size = \"infinite\"`, `fade = 0` или без `coat`";
    fov_beside_camera_keys() "`fov_deg` over time beside `[[camera.key]]`" "`fov_deg`, который меняется, рядом с `[[camera.key]]`";
    fov_of_camera_keys() "`fov_deg` in the camera's keys" "`fov_deg` в ключах камеры";
    film_is_a_coat() "`coat` and `film_nm`: a surface has one of them on top" "`coat` и `film_nm`: сверху лежит что-то одно";
    both_spread() "`fuzz` and `roughness` both set how far its reflection spreads" "`fuzz` и `roughness` оба задают, насколько размыто отражение";
    plain_materials_reflection() "a plain material's `reflection`" "`reflection` обычного материала";
    bodies_do_not_drift() "the relief of a body does not drift" "рельеф тела не движется";
    bodies_do_not_glitter() "the relief of a body does not glitter" "рельеф тела не блестит";
    bodies_are_not_displaced() "the faces of a body stay flat" "грани тела остаются плоскими";
    displaced_floors() "`displaced` in [floor.relief] alone" "`displaced` только в [floor.relief]";
    displaced_without_heights() "what is displaced needs heights" "для смещения нужны высоты";
    bump_and_depth_of_displaced() "`bump` and `depth`, and no `normal_map`" "`bump` и `depth`, без `normal_map`";
    bent_floor_is_not_displaced() "a floor that is not a parallelogram has no displaced surface" "поверхность пола не в форме параллелограмма не смещается";
    a_parallelogram_or_flat() "corners of a parallelogram, or no `displaced`" "углы параллелограмма или без `displaced`";
    glitter_of_floors() "`glitter` in [floor.relief] alone" "`glitter` только в [floor.relief]";
    drift_of_floors() "`drift` in [floor.relief] alone" "`drift` только в [floor.relief]";
    sum_is_above_one(name, reflection, transparency) "{name} {reflection} + transparency {transparency} is above 1"
        "{name} {reflection} + transparency {transparency} больше 1";
    at_time(time, what) "at time {time} {what}" "в момент {time}: {what}";
    only_passes(share) "from inside only {share} passes" "изнутри проходит только {share}";
    no_parallelogram(size) "the corners of a floor whose size is \"{size}\" are not a parallelogram"
        "углы пола с size = \"{size}\" не образуют параллелограмм";
    a_parallelogram() "four corners in one plane, opposite sides alike" "четыре угла в одной плоскости, противоположные стороны равны";
    four_points() "four points" "четыре точки";
    count_of_corners(count) "the floor has {count} corners" "углов у пола: {count}";
    corners_on_a_line() "the floor's corners lie on a line" "углы пола лежат на одной прямой";
    empty_range() "`range` is empty" "`range` пуст";
    lower_first() "two numbers, the lower first" "два числа, сначала меньшее";
    tone_has_no(tone, key) "the curve `{tone}` has no `{key}`" "у кривой `{tone}` нет `{key}`";
    sky_has_no(key) "this sky has no `{key}`" "у этого неба нет `{key}`";
    bump_and_depth() "`bump` and `depth` go together" "`bump` и `depth` указывают вместе";
    what_bump_and_depth_are() "`bump`, a map of heights, and `depth`, the length from its black up to its white"
        "`bump`, карта высот, и `depth`, высота от её чёрного до белого";
    both_lean() "`bump` and `normal_map` both tilt the normals" "`bump` и `normal_map` оба наклоняют нормали";
    drifts_without_roughness_map() "a relief that drifts has no `roughness_map`" "у движущегося рельефа нет `roughness_map`";
    drift_or_roughness_map() "one of `drift` and `roughness_map`" "одно из двух, `drift` или `roughness_map`";
    share_of_no_roughness() "`roughness_map` is a share of the surface's `roughness`, which is 0"
        "`roughness_map` задаёт долю шероховатости `roughness`, а она равна 0";
    roughness_of_white() "`roughness` beside the relief: that of the map's white" "рядом с рельефом `roughness`: шероховатость белого на карте";
    cannot_stand(why) "it cannot stand on the floor: {why}" "стоять на полу нельзя: {why}";
    a_floor_below() "a flat [floor] that lies under it" "ровный [floor] под ним";
    floor_is_tilted() "a face lies on it, and the floor is not level" "на нём лежала бы грань, а пол не горизонтален";
    rests_on_nothing() "`rest` without `on`: there is nothing that it could lie on" "`rest` без `on`: лежать не на чем";
    face_leaves_the_floor() "its face would leave the floor as it turns" "при повороте грань оторвалась бы от пола";
    a_vertical_axis() "a vertical axis, `[0, 0, 1]`, or no `rest`" "вертикальная ось `[0, 0, 1]` или без `rest`";
    floor_is_bent() "the floor is bent" "пол не плоский";
    floor_is_upright() "the floor is upright" "пол стоит вертикально";
    no_floor() "there is no floor" "пола нет";
    too_far_away() "it would stand too far away" "место оказалось бы слишком далеко";

    a_frame_of_the_clip(last) "a frame of the clip, 0 to {last}" "кадр ролика, от 0 до {last}";

    // The camera, rays and film.
    polygon_or_round() "3 to 16 for a polygon, or 0 for a round aperture" "от 3 до 16 для многоугольника или 0 для круглой диафрагмы";
    lens_of_parallel_rays() "an orthographic camera has no lens: all its rays are parallel" "у ортографической камеры нет объектива: все её лучи параллельны";
    no_lens() "`lens = 0`, or `projection = \"perspective\"`" "`lens = 0` или `projection = \"perspective\"`";
    width_of_perspective() "a perspective camera has no `width`" "у перспективной камеры нет `width`";
    fov_or_orthographic() "`fov_deg`, or `projection = \"orthographic\"` beside it" "`fov_deg` или рядом `projection = \"orthographic\"`";
    camera_has_no(key) "the camera has no `{key}`" "у камеры нет `{key}`";
    both_or_paths() "both `position` and `look_at`, or neither and the paths" "и `position`, и `look_at`, или траектории без них";
    orbit_and_others() "the camera has an orbit and keys or a `position`" "у камеры есть и орбита, и ключи или `position`";
    path_and_others(name) "the camera has [camera.{name}] and an orbit, keys or a `position`"
        "у камеры есть и [camera.{name}], и орбита, ключи или `position`";
    others_would_not_count() "one of them: the others would be ignored" "одно из них: остальное не учитывалось бы";
    closed_without_keys() "the camera has `closed` and no keys" "у камеры есть `closed` и нет ключей";
    keys_to_close() "[[camera.key]] tables for it to close" "таблицы [[camera.key]], путь которых он замыкает";
    one_camera_key() "the camera has one key" "у камеры один ключ";
    two_camera_keys() "at least two [[camera.key]]; a camera that stands still has `position` and `look_at`"
        "не меньше двух [[camera.key]]; у неподвижной камеры `position` и `look_at`";
    keys_and_position() "the camera has keys and a `position`" "у камеры есть и ключи, и `position`";
    time_not_after(time, before) "this key's time, {time}, is not after the one before, {before}"
        "время этого ключа, {time}, не позже предыдущего, {before}";
    growing_times() "times that grow from key to key" "времена, которые растут от ключа к ключу";
    no_time_to_close() "no time is left to close the loop" "не осталось времени замкнуть путь";
    time_below_one() "its time below 1: the way back to the first key takes the rest of the clip"
        "время меньше 1: возврат к первому ключу занимает остаток ролика";
    uneven_samples() "`transparent` needs the same samples everywhere" "для `transparent` лучей везде должно быть поровну";
    even_samples() "no range of `samples`, no `noise` and no `shutter`: all samples of a pixel count alike in its alpha"
        "сцена без диапазона в `samples`, без `noise` и `shutter`: в прозрачности пикселя все лучи равноправны";
    fog_hides() "fog hides the sky, which is `transparent`" "туман закрывает небо, а оно `transparent`";
    clear_air() "clear air, or an opaque sky" "чистый воздух или непрозрачное небо";
    range_and_shutter() "`samples` is a range, and the camera has a `shutter`" "в `samples` диапазон, а у камеры есть `shutter`";
    number_for_shutter() "a number: an open shutter spreads all samples over its moments"
        "число: открытый затвор распределяет все лучи по своим моментам";
    occlusion_knows_no_lights() "ambient occlusion ignores lights" "затенение не знает источников света";
    occlusion_knows_no_lamps() "ambient occlusion ignores lamps" "затенение не знает ламп";
    paths_ask_a_lamp() "paths sample a lamp at each bounce" "пути спрашивают лампу при каждом отражении";

    // Values over time.
    cannot_change(key) "`{key}` cannot change over the clip" "`{key}` не может меняться за ролик";
    one_value() "one value" "одно значение";
    list_of_keys() "a list of keys, each `[time, value]`: [[0, ...], [0.5, ...]]" "список ключей, каждый `[time, value]`: [[0, ...], [0.5, ...]]";
    no_pair(number, key) "key {number} of `{key}` is not a pair" "ключ {number} в `{key}`: не пара";
    a_pair() "`[time, value]`, or with an ease after them" "`[time, value]`, можно с видом перехода третьим";
    number_at_each_key() "a number at each key" "число в каждом ключе";
    one_key(key) "`{key}` has one key" "в `{key}` один ключ";
    two_keys() "at least two; a value that stays stands alone" "не меньше двух; постоянное значение пишется само по себе";
    no_keys(key) "`{key}` has no keys" "в `{key}` нет ключей";

    // Clips that do not loop.
    a_loop() "a clip whose last frame leads to its first" "ролик, последний кадр которого переходит в первый";
    any_end(help) "{help}; `loop = false` allows any end" "{help}; с `loop = false` конец может быть любым";
    loop_of_camera() "a path loops if its turns and cycles are whole numbers, or if its last key equals its first"
        "путь замкнут, если числа его оборотов и циклов целые или если последний ключ равен первому";
    loop_of_value() "`closed = true` leads it back to its first key; so does a last key with the first one's value"
        "`closed = true` возвращает значение к первому ключу; то же делает последний ключ со значением первого";
    loop_of_body(turns) "`turns = {turns}` brings it back" "`turns = {turns}` вернёт его в начало";
    loop_of_drift() "`drift` moves a body away: a `path` brings it back" "`drift` уносит тело: вернёт его `path`";
    loop_of_lamps() "`lamp_cycles = 1` is one cycle in the clip" "`lamp_cycles = 1`: один цикл за ролик";
    loop_of_relief() "`drift` counts tiles of the relief, two whole numbers: [2, -1]" "`drift` считает плитки рельефа, это два целых числа: [2, -1]";
    loop_of_particles() "the last step of a simulation does not lead to its first" "последний шаг расчёта не переходит в первый";

    // Meshes.
    neither_obj_nor_ply() "it is neither .obj nor .ply; export it as one of them" "это не .obj и не .ply; сохраните её в одном из этих форматов";
    no_faces() "it has no faces" "в ней нет граней";
    mesh_cannot_stand(why) "the mesh cannot stand on the floor: {why}" "сетка не может стоять на полу: {why}";
    coordinate_is(number, expected) "a coordinate is {number}; expected {expected}" "координата {number}; ожидалось: {expected}";
    face_names_vertex(face, vertex, count) "face {face} names vertex {vertex}, and there are {count} (from 0)"
        "грань {face} называет вершину {vertex}, а всего их {count} (с нуля)";
    no_ply(place) "it is not a PLY file, or it is broken ({place})" "это не файл PLY, или он испорчен ({place})";
    declares_elements(count, name, bytes) "it declares {count} elements `{name}`, but has only {bytes} bytes"
        "заявлено элементов `{name}`: {count}, а байтов в файле {bytes}";

    // Kinds of files.
    sky_file() "sky" "небо";
    mesh_file() "mesh" "сетка";
    particles_file() "particles" "частицы";
    map_file() "map" "карта";
}

// What the library for TOML says of a text that is none, and what it expected there.
const FAULTS: &[(&str, &str)] = &[
    ("`_` may only go between digits", "`_` стоит только между цифрами"),
    ("array", "список"),
    ("basic string", "текст в кавычках"),
    ("cannot extend value of type array with a dotted key", "список нельзя дополнить ключом с точкой"),
    ("cannot extend value of type inline table with a dotted key", "таблицу в строке нельзя дополнить ключом с точкой"),
    ("cannot recurse further; max recursion depth met", "слишком много вложенных скобок"),
    ("carriage return must be followed by newline", "после возврата каретки нет новой строки"),
    ("characters", "символы"),
    ("digits", "цифры"),
    ("duplicate key", "ключ указан дважды"),
    ("extra `=`", "лишний знак `=`"),
    ("extra assignment between key-value pairs", "лишний знак `=`"),
    ("extra comma in array", "лишняя запятая в списке"),
    ("extra comma in inline table", "лишняя запятая в таблице"),
    ("integers with a radix cannot be signed", "число с основанием пишется без знака"),
    ("invalid basic string", "ошибка в тексте в кавычках"),
    ("invalid boolean", "здесь не true и не false"),
    ("invalid comment character", "недопустимый символ в комментарии"),
    ("invalid date-time", "ошибка в дате"),
    ("invalid exponent", "ошибка в порядке числа"),
    ("invalid float", "здесь не число"),
    ("invalid fraction", "ошибка в дробной части числа"),
    ("invalid integer number", "ошибка в целом числе"),
    ("invalid key-value pair", "здесь не ключ со значением"),
    ("invalid literal string", "ошибка в тексте в одинарных кавычках"),
    ("invalid mantissa", "ошибка в числе"),
    ("invalid multi-line basic string", "ошибка в тексте из нескольких строк"),
    ("invalid string", "ошибка в тексте"),
    ("invalid unquoted key", "недопустимый ключ без кавычек"),
    ("invalid value", "недопустимое значение"),
    ("key", "ключ"),
    ("key with no value", "ключ без значения"),
    ("letters", "латинские буквы"),
    ("literal string", "текст в одинарных кавычках"),
    ("missing assignment between key-value pairs", "не хватает `=` между ключом и значением"),
    ("missing comma between array elements", "не хватает запятой между элементами списка"),
    ("missing comma between key-value pairs", "не хватает запятой между ключами"),
    ("missing escaped value", "после обратной черты ничего нет"),
    ("missing key for inline table element", "не хватает ключа"),
    ("missing opening quote", "не хватает открывающей кавычки"),
    ("missing value", "не хватает значения"),
    ("missing value for key", "у ключа нет значения"),
    ("newline", "новая строка"),
    ("non-double-quote visible characters", "видимые символы, кроме двойных кавычек"),
    ("non-single-quote visible characters", "видимые символы, кроме одинарных кавычек"),
    ("nothing", "ничего"),
    ("numbers", "цифры"),
    ("radix must be lowercase", "основание числа пишется строчной буквой"),
    ("redundant numeric sign", "лишний знак числа"),
    ("string values must be quoted", "текст пишется в кавычках"),
    ("too few unicode value digits", "слишком мало цифр в коде символа"),
    ("unclosed array", "список не закрыт"),
    ("unclosed array table", "скобки таблицы не закрыты"),
    ("unclosed inline table", "таблица в строке не закрыта"),
    ("unclosed table", "скобка таблицы не закрыта"),
    ("unexpected `=` in array", "знак `=` в списке"),
    ("unexpected content", "лишний текст"),
    ("unexpected key or value", "лишний ключ или значение"),
    ("unexpected leading zero", "лишний ноль в начале числа"),
    ("unexpected sign", "лишний знак"),
    ("unicode hexadecimal value", "код символа"),
    ("unquoted keys cannot be empty", "ключ без кавычек не может быть пустым"),
    ("value", "значение"),
];

impl Language {
    /// What the library for TOML says; in its own words where they are not known.
    pub(crate) fn toml_fault(self, text: &str) -> String {
        if self == Language::English {
            return text.to_owned();
        }
        let known = |part: &str| {
            let found = FAULTS.binary_search_by_key(&part, |(english, _)| english);
            found.map_or_else(|_| part.to_owned(), |i| FAULTS[i].1.to_owned())
        };
        match text.split_once(", expected ") {
            Some((fault, expected)) => {
                let expected = expected.split(", ").map(known).collect::<Vec<_>>().join(", ");
                format!("{}; {}", known(fault), self.expected(expected))
            }
            None => known(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_toml_are_told_in_russian() {
        assert!(FAULTS.is_sorted_by_key(|(english, _)| english));
        for (text, expected) in [
            ("a = \n", "текст пишется в кавычках; ожидалось: текст в одинарных кавычках"),
            ("a b\n", "ключ без значения; ожидалось: `=`"),
            ("[a\n", "скобка таблицы не закрыта; ожидалось: `]`"),
            ("a = \"b\n", "ошибка в тексте в кавычках; ожидалось: `\"`"),
            ("a = b\n", "текст пишется в кавычках; ожидалось: текст в одинарных кавычках"),
            ("a = [\"b\" \"c\"]\n", "не хватает запятой между элементами списка; ожидалось: `,`"),
            ("a = [1\n", "список не закрыт; ожидалось: `]`"),
            ("[a] b\n", "лишний ключ или значение; ожидалось: новая строка, `#`"),
        ] {
            let e = toml::de::DeTable::parse(text).unwrap_err();
            assert_eq!(Language::Russian.toml_fault(e.message()), expected, "{text}: {}", e.message());
            assert_eq!(Language::English.toml_fault(e.message()), e.message());
        }
    }
}
