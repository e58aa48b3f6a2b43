//! The languages of messages, and the table of all messages that have more than one: wrong command lines, the faults of a scene in
//! tokens, what `polyfly check` says of one, and the page of `polyfly report`; `commands` has wrong requests, `scenes` faults of TOML. Advice for flags of other programs is in
//! `scene::suggest`. Logs, exit codes and files for programs are the same in all languages.

use std::fmt::Display;

/// A language of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Russian.
    Russian,
}

// Declares the messages: name and parts, then the text of each language. The compiler refuses a message that lacks a language, and a
// text that lacks a part.
macro_rules! messages {
    ($($(#[$attribute:meta])* $name:ident($($part:ident),*) $english:literal $russian:literal;)*) => {
        impl Language {$(
            $(#[$attribute])*
            pub(crate) fn $name(self $(, $part: impl Display)*) -> String {
                match self {
                    Language::English => format!($english $(, $part = $part)*),
                    Language::Russian => format!($russian $(, $part = $part)*),
                }
            }
        )*}

        #[cfg(test)]
        pub(super) const TABLE: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $russian)),*];
    };
}

/// A message without parts.
pub(crate) type Message = fn(Language) -> String;

mod commands;
mod files;
mod remarks;
mod scenes;

/// A message in all languages, for faults that are found where nobody knows the language yet. It is shown, and compared as a text, in
/// English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllLanguages {
    english: Box<str>,
    russian: Box<str>,
}

impl AllLanguages {
    pub(crate) fn new(text: impl Fn(Language) -> String) -> AllLanguages {
        let [english, russian] = [Language::English, Language::Russian].map(|language| text(language).into_boxed_str());
        AllLanguages { english, russian }
    }
    pub(crate) fn get(&self, language: Language) -> &str {
        match language {
            Language::English => &self.english,
            Language::Russian => &self.russian,
        }
    }
}

impl Display for AllLanguages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.english)
    }
}

impl std::ops::Deref for AllLanguages {
    type Target = str;
    fn deref(&self) -> &str {
        &self.english
    }
}

// Declares nouns that are counted: one and several in English; 1, 2 to 4 and 5 in Russian.
macro_rules! nouns {
    ($($name:ident $english:literal $several:literal $russian:literal $few:literal $many:literal;)*) => {
        impl Language {$(
            pub(crate) fn $name(self, count: impl TryInto<u64>) -> String {
                let count = count.try_into().unwrap_or(u64::MAX);
                let noun = match (self, count % 10, count % 100) {
                    (Language::English, ..) if count == 1 => $english,
                    (Language::English, ..) => $several,
                    (Language::Russian, _, 11..=14) => $many,
                    (Language::Russian, 1, _) => $russian,
                    (Language::Russian, 2..=4, _) => $few,
                    (Language::Russian, ..) => $many,
                };
                format!("{count} {noun}")
            }
        )*}
    };
}

nouns! {
    count_frames "frame" "frames" "кадр" "кадра" "кадров";
    count_samples "sample" "samples" "луч" "луча" "лучей";
    count_bounces "bounce" "bounces" "отражение" "отражения" "отражений";
    count_bodies "body" "bodies" "тело" "тела" "тел";
    count_lamps "lamp" "lamps" "лампа" "лампы" "ламп";
    count_balls "ball" "balls" "шар" "шара" "шаров";
    count_ellipsoids "ellipsoid" "ellipsoids" "эллипсоид" "эллипсоида" "эллипсоидов";
    count_rectangles "rectangle" "rectangles" "прямоугольник" "прямоугольника" "прямоугольников";
    count_meshes "mesh" "meshes" "сетка" "сетки" "сеток";
    count_tokens "token" "tokens" "токен" "токена" "токенов";
    count_names "name" "names" "имя" "имени" "имён";
    count_files "file" "files" "файл" "файла" "файлов";
    count_devices "device" "devices" "устройстве" "устройствах" "устройствах";
    count_pairs "pair" "pairs" "пара" "пары" "пар";
    count_lights "light" "lights" "источник света" "источника света" "источников света";
}

messages! {
    // Severities.
    error() "error" "ошибка";
    warning() "warning" "предупреждение";
    help() "help" "подсказка";
    and_more(count) "and {count} more" "и ещё {count}";

    // Ranges of numbers.
    expected(what) "expected {what}" "ожидалось: {what}";
    an_index() "an index of refraction, 0.01 to 100" "показатель преломления от 0.01 до 100";
    an_angle() "degrees, above 0 and below 180" "угол в градусах, больше 0 и меньше 180";
    a_whole_number(min, max) "a whole number from {min} to {max}" "целое число от {min} до {max}";
    bits() "8 or 16 (PNG), 16 or 32 (EXR)" "8 или 16 (PNG), 16 или 32 (EXR)";
    a_number(min, max) "a number from {min} to {max}" "число от {min} до {max}";
    any_number() "a finite number" "конечное число";

    // Numbers in another spelling.
    cyrillic_letter(text, letter, code, meant, number) "`{text}` has a Cyrillic {letter} (U+{code}) where `{meant}` is meant: {number}"
        "в `{text}` кириллическая {letter} (U+{code}) там, где нужно `{meant}`: {number}";
    letter_for_digit(text, letter, meant, number) "`{text}` has the letter {letter} where the digit {meant} is meant: {number}"
        "в `{text}` буква {letter} там, где нужна цифра {meant}: {number}";
    no_comma_behind(number) "no comma stands behind a number: {number}" "после числа нет запятой: {number}";
    comma(number) "numbers are written with a point: {number}" "дробная часть отделяется точкой: {number}";
    dash(number) "this is a dash, not a minus sign: {number}" "здесь тире, а не минус: {number}";
    radians(degrees) "angles are in degrees, without a unit: {degrees}" "углы задаются в градусах, без единицы измерения: {degrees}";
    fraction(number) "a fraction is written as a decimal number: {number}" "дробь пишется десятичным числом: {number}";
    unit(number) "a number has no unit: {number}" "число пишется без единицы измерения: {number}";
    code(fraction) "a code of 0 to 255 is divided by 255: {fraction}" "код от 0 до 255 нужно разделить на 255: {fraction}";

    two_tokens(width, height) "these are two tokens: {width} {height}" "это два токена: {width} {height}";

    // Tokens, and what they mean.
    token_is(number, name, text) "token {number} ({name}) is `{text}`" "токен {number} ({name}): `{text}`";
    token(number, name) "token {number} ({name})" "токен {number} ({name})";
    scene_ends(number, name) "the scene ends before token {number} ({name})" "сцена обрывается перед токеном {number} ({name})";
    frame_count() "frame count" "число кадров";
    output_path() "output path" "путь к кадрам";
    width() "width" "ширина";
    height() "height" "высота";
    field_of_view() "field of view" "угол обзора";
    camera() "camera" "камера";
    look_at_point() "look-at point" "точка наблюдения";
    tetrahedron() "the tetrahedron" "тетраэдр";
    cube() "the cube" "куб";
    octahedron() "the octahedron" "октаэдр";
    dodecahedron() "the dodecahedron" "додекаэдр";
    icosahedron() "the icosahedron" "икосаэдр";
    center() "center" "центр";
    color() "color" "цвет";
    circumradius() "circumradius" "радиус описанной сферы";
    reflection() "reflection R" "отражение R";
    transparency() "transparency T" "прозрачность T";
    lamps_on_an_edge() "lamps on an edge" "число ламп на ребре";
    floor() "floor" "пол";
    floor_point(number) "floor, point {number}" "пол, точка {number}";
    floor_texture() "floor, texture" "пол, текстура";
    floor_reflection() "floor, reflection R" "пол, отражение R";
    light_count() "light count" "число источников света";
    position() "position" "положение";
    depth() "depth" "глубина рекурсии";
    samples() "samples along a pixel's side" "число лучей вдоль стороны пикселя";

    // The whole scene.
    empty_scene() "the scene is empty" "сцена пуста";
    a_scene() "a scene in TOML, or in the coursework's tokens" "сцена в TOML или в токенах курсовой";
    prints_a_scene() "`polyfly --default toml` prints a whole scene" "`polyfly --default toml` печатает сцену целиком";
    look_is(name, parts, others) "look: {name}: {parts}; {others}" "вид: {name}: {parts}; {others}";
    samples_along_sides(side) "{side}x{side} samples" "лучей на пиксель: {side}x{side}";
    at_dusk() "dusk" "сумерки";
    a_slab() "slab" "плита";
    open_shutter() "open shutter" "открытый затвор";
    no_shadows() "no shadows" "без теней";
    looks_like(language) "this looks like {language}" "это похоже на {language}";
    a_comment() "this is a comment" "это комментарий";
    no_comments() "only words and numbers: tokens have no comments" "только слова и числа: в токенах нет комментариев";
    no_comments_help() "remove it, or write the scene in TOML (`polyfly convert`), which has them"
        "уберите его или запишите сцену в TOML (`polyfly convert`), где комментарии есть";
    no_frame_count() "the frame count is missing: write it before the output path"
        "не хватает числа кадров: оно стоит перед путём к кадрам";
    names_every_token() "`polyfly --default` prints a whole scene; docs/scenes.md names every token"
        "`polyfly --default` печатает сцену целиком; все токены описаны в docs/ru/student.md";
    a_path(endings) "a path with %d, ending in {endings}" "путь с %d и расширением {endings}";
    no_number_in_path(path) "token 2 (output path) is `{path}`, which does not say where the frame's number goes"
        "токен 2 (путь к кадрам): `{path}` не показывает, где стоит номер кадра";
    frames_are_written_as(pattern) "frames are written as {pattern}" "кадры пишутся как {pattern}";
    bad_percent() "a path may hold one `%d`, `%0Nd` (N from 1 to 18) or row of `#`, and no other `%`"
        "в пути может стоять одно `%d`, `%0Nd` (N от 1 до 18) или один ряд `#`, и никаких других `%`";
    unknown_ending(list, ending) "pictures are written as {list}; the path ends in `.{ending}`"
        "кадры пишутся как {list}; у пути расширение `.{ending}`";
    empty_path() "the path is empty or names a folder: the frames in it need names, such as `%04d.png`"
        "путь пуст или называет папку: кадрам в ней нужны имена, например `%04d.png`";
    too_large(width, height) "a picture of {width} x {height} pixels is above the memory limit"
        "кадр {width} x {height} пикселей не помещается в память";
    pixels_at_most(count) "at most {count} pixels" "не больше {count} пикселей";
    points_on_a_line() "the floor's points lie on a line" "точки пола лежат на одной прямой";
    four_corners() "four corners of a floor" "четыре угла пола";
    no_such_texture(name) "there is no built-in texture `{name}`" "встроенной текстуры `{name}` нет";
    a_texture(names) "{names}, `none` or a file" "{names}, `none` или файл";
    leads_outside(name) "{name} leads outside of the scene's folder" "{name} ведёт за пределы папки сцены";
    leads_outside_both(name) "{name} leads outside of the scene's folder and of this one"
        "{name} ведёт за пределы папки сцены и рабочей папки";
    a_path_inside() "a path inside" "путь внутри неё";
    sum_above_one(first, second, name, why) "tokens {first} and {second} ({name}): {why}" "токены {first} и {second} ({name}): {why}";
    above_one(reflection, transparency) "reflection {reflection} + transparency {transparency} is above 1"
        "отражение {reflection} + прозрачность {transparency} больше 1";
    changes_nothing(key) "`{key}` changes nothing" "`{key}` ничего не меняет";
    picture_covers_gradient() "the sky has an `image`, which covers its gradient" "у неба есть `image`, она закрывает градиент";
    needs(table, key) "[{table}] has no `{key}`" "в [{table}] нет `{key}`";
    gamma_is_of_clip() "only `tone = \"clip\"` has a gamma" "гамма есть только у `tone = \"clip\"`";
    lamps_are_on_bars() "lamps stand on bars, and `bar` is 0" "лампы стоят на рамке граней, а `bar` равно 0";
    bevel_crosses(limit) "`bevel` crosses {limit}" "`bevel` проходит через {limit}";
    bevel_jumps() "narrower bevels are in the shading alone, so the picture jumps there"
        "фаски уже этого есть только в затенении, и картинка в этот момент скачет";
    adds_light() "the body adds light of its own" "тело добавляет собственный свет";
    scene_is_complete(number, text) "token {number} is `{text}`, and the scene is already complete"
        "токен {number}: `{text}`, а сцена уже полна";
    the_end() "the end of the scene" "конец сцены";
    is_the_light_count_right(dialect) "this was read as the {dialect} dialect; is the light count right?"
        "сцена прочитана в варианте «{dialect}»; верно ли число источников света?";
    read_with_texture(dialect, count) "read as the {dialect}: {count}, a texture among them"
        "прочитано как {dialect}: {count}, среди них текстура";
    read_without_texture(dialect, count) "read as the {dialect}: {count}, no texture among them"
        "прочитано как {dialect}: {count}, текстуры среди них нет";
    full_dialect() "full dialect" "полный вариант";
    reduced_dialect() "reduced dialect" "сокращённый вариант";
    seven_value_dialect() "dialect of seven values a body" "вариант с семью значениями на тело";
    full() "full" "полный";
    reduced() "reduced (61 tokens)" "сокращённый (61 токен)";
    seven_value() "seven-value" "семь значений на тело";
    odd_line(line, count, name, expected) "line {line} has {count} values; expected {expected} ({name})"
        "в строке {line} значений {count}, а должно быть {expected}: здесь {name}";
    the_frame_count() "the frame count" "число кадров";
    the_output_path() "the output path" "путь к кадрам";
    size_and_view() "size and field of view" "размер и угол обзора";
    the_cameras_path() "the camera's path" "траектория камеры";
    the_points_path() "the path of the look-at point" "траектория точки наблюдения";
    the_floor() "the floor" "пол";
    fourth_body(line, count) "line {line} has {count} values too many: tokens hold three bodies, and a scene in TOML any number"
        "строка {line} лишняя, значений в ней {count}: в токенах три тела, а в сцене TOML сколько угодно";
    no_blanks_in_path(path) "a path in tokens has no blanks: {path}" "в пути из токенов нет пробелов: {path}";

    // Files.
    either(words, last) "{words} or {last}" "{words} или {last}";
    texture() "texture" "текстура";
    cannot_read_asset(kind, why) "cannot read the {kind}: {why}" "{kind}: файл не читается: {why}";
    is_broken(kind, why) "the {kind} is broken: {why}" "{kind}: файл испорчен: {why}";
    not_found() "there is no such file" "такого файла нет";
    not_permitted() "its permissions forbid reading it" "нет прав на чтение";
    is_a_folder() "it is a folder" "это папка";
    no_regular_file() "it is a device or a pipe, and not a file" "это устройство или канал, а не файл";
    file_too_long(kind, has, may) "the {kind} has {has} MiB, and a file may have {may}: raise --limit-memory"
        "{kind}: в файле {has} МиБ, а допустимо {may}: увеличьте --limit-memory";
    unfolds(bytes, width, height, max)
        "{bytes} bytes unfold to {width} x {height} pixels, and may become {max} million: make it smaller, or raise --limit-memory"
        "{bytes} байт разворачиваются в {width} x {height} пикселей, а допустимо {max} млн: уменьшите картинку или увеличьте --limit-memory";
    format_not_read(format, readable) "{format} pictures are not read; expected {readable}"
        "картинки {format} не читаются; ожидалось: {readable}";
    unknown_format(readable) "its format is unknown; expected {readable}" "формат не распознан; ожидалось: {readable}";
    too_wide(width, height, max) "its size is {width} x {height}; at most {max} a side: make it smaller"
        "размер {width} x {height}; сторона не больше {max}: уменьшите картинку";
    no_pixels(width, height) "its size is {width} x {height}: it has no pixels" "размер {width} x {height}: в ней нет пикселей";
    data_too_short(bytes) "a .data file starts with width and height, and this one has {bytes} bytes"
        "файл .data начинается с ширины и высоты, а в этом байтов {bytes}";
    other_ending(ending) "by its first bytes it is a .{ending} file: give it that ending"
        "судя по первым байтам, это файл .{ending}: дайте ему это расширение";
    big_endian(width, height)
        "its width and height, {width} and {height}, are written with the first byte last; expected little-endian numbers"
        "ширина и высота, {width} и {height}, записаны старшим байтом вперёд; ожидался порядок little-endian";
    bad_data_size(width, height, max) "its size is {width} x {height}; expected sides of 1 to {max}"
        "размер {width} x {height}; ожидались стороны от 1 до {max}";
    bad_data_length(width, height, expected, bytes) "{width} x {height} RGBA takes {expected} bytes, and it has {bytes}"
        "{width} x {height} RGBA занимает {expected} байт, а в файле их {bytes}";
    give_another_or_stand_in() "give another with --texture, or `none`; `--missing-texture stand-in` shows a bright checker instead"
        "укажите другую через --texture или `none`; с `--missing-texture stand-in` вместо неё будет яркая шахматная доска";
    give_another() "give another with --texture, or `none`" "укажите другую через --texture или `none`";
    renders_without_it() "`--missing-texture stand-in` renders without it" "с `--missing-texture stand-in` сцена рисуется без него";
    no_file(name) "there is no file `{name}`" "файла `{name}` нет";
    a_checker_stands_in() "a magenta checker stands in for it" "вместо него будет пурпурная шахматная доска";
    evenly_rough() "the surface is evenly rough without it" "без него шероховатость поверхности одинакова";
    flat_without() "the surface is flat without it" "без него поверхность плоская";
    allow_outside() "put it inside, or give --allow-outside if you trust the scene"
        "переместите файл туда или, если доверяете сцене, добавьте --allow-outside";
    cannot_read(name, why) "cannot read {name}: {why}" "{name}: файл не читается: {why}";
    not_text(name, place) "{name}: byte {place} is not text in UTF-8: is this a picture, or text in another encoding?"
        "{name}: байт {place} не похож на текст в UTF-8: это картинка или другая кодировка?";
    scene_too_long_to_read(name, max) "{name} is longer than the {max} MiB that a scene may have: is this a scene?"
        "{name} длиннее {max} МиБ, допустимых для сцены: это сцена?";
    writes_a_scene() "a scene is written in tokens or TOML; `polyfly new my.toml` writes one"
        "сцена пишется токенами или в TOML; `polyfly new my.toml` создаёт её";
    scene_in_folder(path) "this is a folder; give the scene in it: {path}" "это папка; укажите сцену в ней: {path}";
    name_a_scene(path) "this is a folder; name a scene file, such as {path}" "это папка; назовите файл сцены, например {path}";
    leave_out_gpu() "leave out --gpu or --devices: the CPU makes the same bytes" "уберите --gpu или --devices: процессор даст те же байты";
    did_you_mean(name) "did you mean `{name}`?" "возможно, вы имели в виду `{name}`?";
    slash_separates() "on this system `/` separates folders" "в этой системе папки разделяет `/`";
    new_or_sample(name) "`polyfly new {name}` writes a scene to begin with, `polyfly scenes` lists samples"
        "`polyfly new {name}` записывает сцену для начала, `polyfly scenes` перечисляет примеры";

    // Wrong command lines.
    size_and_rate(size, rate) "did you mean `--size {size} --fps {rate}`?" "возможно, вы имели в виду `--size {size} --fps {rate}`?";
    given_twice(flag) "`{flag}` is given twice" "`{flag}` указан дважды";
    exclude_each_other(flag, other) "`{flag}` and `{other}` exclude each other" "`{flag}` и `{other}` исключают друг друга";
    flag_has_no_value(flag) "`{flag}` has no value" "у `{flag}` нет значения";
    flag_is(flag, value) "`{flag}` is `{value}`" "`{flag}`: получено `{value}`";
    flag_takes_no_value(flag) "`{flag}` takes no value" "`{flag}` не принимает значения";
    expected_one_of(list) "expected one of {list}" "ожидалось одно из значений: {list}";
    whole_number_expected() "expected a whole number" "ожидалось целое число";
    number_at_least(low) "expected a whole number, at least {low}" "ожидалось целое число не меньше {low}";
    number_between(low, high) "expected a whole number from {low} to {high}" "ожидалось целое число от {low} до {high}";
    engine_comes_first(command) "the engine comes first: `{command}`" "сначала указывается система: `{command}`";
    device_comes_first(command) "the device comes first: `{command}`" "сначала указывается устройство: `{command}`";
    copies_or_shows(name) "`polyfly scenes copy {name}` writes this sample, `polyfly scenes show {name}` prints it"
        "`polyfly scenes copy {name}` записывает этот пример, `polyfly scenes show {name}` печатает его";
    copies_sample(name) "`polyfly scenes copy {name}` writes this sample" "`polyfly scenes copy {name}` записывает этот пример";
    write_this(usage) "write {usage}" "напишите {usage}";
    job_has_no_part(job, word) "`polyfly {job}` has no part `{word}`" "у `polyfly {job}` нет части `{word}`";
    no_such_job(word) "there is no job `{word}`" "команды `{word}` нет";
    help_lists_jobs() "`polyfly help` lists all jobs" "`polyfly help` перечисляет все команды";
    job_needs(job, what) "`polyfly{job}` needs {what}" "для `polyfly{job}` нужно указать {what}";
    both(words, last) "{words} and {last}" "{words} и {last}";
    long_dash(word) "`{word}` begins with a long dash" "`{word}` начинается с длинного тире";
    two_short_dashes(flag) "flags begin with two short ones: `{flag}`" "флаги начинаются с двух дефисов: `{flag}`";
    no_such_flag(flag) "there is no flag `{flag}`" "флага `{flag}` нет";
    two_words(words) "`{words}` is two words" "`{words}`: здесь два слова";
    three_words(words) "`{words}` is three words" "`{words}`: здесь три слова";
    samples_take(side, all) "`--samples {side}` takes {side} x {side} = {all}" "`--samples {side}` берёт {side} x {side} = {all}";
    next_square(advice, count) "{advice}, the next square above {count}" "{advice}: это следующий квадрат после {count}";
    takes_no_negative(flag, value) "`{flag}` is `{value}`: expected no minus sign" "`{flag}`: получено `{value}`, а знака минус быть не должно";
    no_equals_sign(words) "`{words}` has no equals sign" "в `{words}` нет знака равенства";
    spaced_equals_sign(words) "`{words}` has spaces around the equals sign" "в `{words}` вокруг знака равенства стоят пробелы";
    equals_sign_joins(words) "an equals sign joins key and value: `{words}`" "ключ и значение соединяет знак равенства: `{words}`";
    is_no_scene(name) "`{name}` is not a scene" "`{name}` не сцена";
    flag_names_output(words) "a flag names what is written: `{words}`" "имя результата указывается флагом: `{words}`";
    comes_after_scene(job) "`{job}` comes after the scene" "`{job}` стоит после сцены";
    job_comes_first(words) "a job comes first: `{words}`" "команда стоит первой: `{words}`";
    second_scene(name) "`{name}` is a second scene" "`{name}`: это вторая сцена";
    one_run_one_scene() "one run renders one scene: run polyfly once for each of them"
        "за один запуск рисуется одна сцена: запустите программу для каждой";
    no_argument_there(job, word) "`{job}` takes no argument `{word}` there" "`{job}` не принимает здесь аргумент `{word}`";
    lists_what_it_takes(job) "`{job} --help` lists what it takes" "`{job} --help` перечисляет, что можно указать";
    lists_flags(job) "`{job} --help` lists all flags" "`{job} --help` перечисляет все флаги";
    job_has_no_flag(job, flag) "`{job}` has no flag `{flag}`" "у `{job}` нет флага `{flag}`";
    flag_of_rendering(flag, words) "`{flag}` is a flag of rendering: `{words}`" "`{flag}`: это флаг рендеринга, `{words}`";
    argument_without_flag(name, usage) "{name} is an argument without a flag: `{usage}`" "аргумент {name} пишется без флага: `{usage}`";
    two_dashes(flag) "long flags have two dashes: `{flag}`" "у длинных флагов два дефиса: `{flag}`";
    a_size(side) "expected WIDTHxHEIGHT, each {side}, or a name such as 1080p, 4k or vertical"
        "ожидались ширина и высота, WIDTHxHEIGHT, каждая {side}, или имя, например 1080p, 4k или vertical";
    above_memory_limit(width, height, max) "a picture of {width} x {height} pixels is above the memory limit of {max} pixels"
        "кадр {width} x {height} больше предела памяти, {max} пикселей";
    samples_or_range(max) "expected a whole number from 1 to {max}, or a range such as 4..64"
        "ожидалось целое число от 1 до {max} или диапазон, например 4..64";
    several_threads(expected) "{expected}, or several of them with commas: 1,2,4" "{expected}, или несколько через запятую: 1,2,4";
    a_rate(range) "expected {range}, or a fraction such as 30000/1001" "ожидалось {range} или дробь, например 30000/1001";
    three_solids() "expected three solids, as A,B,C" "ожидались три тела, A,B,C";
    a_shard() "expected K/N, with K from 1 to N" "ожидалось K/N, где K от 1 до N";
    three_numbers() "expected three numbers, as X,Y,Z" "ожидались три числа, X,Y,Z";
    key_and_value(text) "--set {text}: expected KEY=VALUE, such as film.exposure=0.5"
        "--set {text}: ожидалось KEY=VALUE, например film.exposure=0.5";
    names_for_bodies(names, bodies) "{names} for {bodies}" "{names}, а в сцене {bodies}";
    is_a_flag(text) "--output: `{text}` is a flag; a file of that name is ./{text}"
        "--output: `{text}`: это флаг; файл с таким именем пишется ./{text}";
    no_device(name) "--devices: `{name}` is not a device; expected `all`, or a list of `cpu` and GPUs' numbers"
        "--devices: `{name}` не устройство; ожидалось `all` или список из `cpu` и номеров видеокарт";
    in_environment(name, why) "{name} in the environment: {why}" "{name} в переменных окружения: {why}";

    // What `polyfly check` says.
    clip(frames, width, height, seconds, fps) "{frames} of {width} x {height}, {seconds} s at {fps} a second"
        "{frames}, {width} x {height}, {seconds} с по {fps} в секунду";
    tracing(integrator, samples, bounces) "{integrator}, {samples} a pixel, at most {bounces}"
        "{integrator}, {samples} на пиксель, предел: {bounces}";
    whitted() "Whitted" "метод Уиттеда";
    occlusion() "ambient occlusion" "рассеянное затенение";
    paths() "paths" "трассировка путей";
    it_holds(things) "it holds {things}" "в сцене: {things}";
    particles() "particles" "частицы";
    a_floor() "a floor" "пол";
    frames_go_to(path) "frames go to {path}" "кадры: {path}";
    video_goes_to(path) "a video goes to {path}" "видео: {path}";
    narrow_view(fov, degrees) "the camera's view is {fov} degrees wide; {fov} radians are {degrees} degrees"
        "угол обзора камеры {fov}°; {fov} рад = {degrees}°";
    loops() "the clip loops seamlessly" "ролик зацикливается без шва";
    does_not_loop(why) "the clip does not loop: {why}" "ролик не зацикливается: {why}";
    camera_moved(distance) "the camera ends {distance} from where it began" "камера оказывается в {distance} от начала пути";
    camera_turned(degrees, wider) "the camera ends turned by {degrees} degrees, its view {wider} degrees wider or narrower"
        "камера в конце повёрнута на {degrees} градуса, а угол обзора отличается на {wider} градуса";
    body_moved(body, distance) "{body}: it does not return to its start, and a vertex is {distance} away"
        "{body}: нет возврата в начало, вершина в {distance} от него";
    lamps_changed(body) "{body}: its lamps do not return to their start, because lamp_cycles is not a whole number"
        "{body}: лампы не возвращаются в начало, потому что lamp_cycles не целое число";
    value_changed(path) "`{path}` has another value at the end of the clip than at its start"
        "у `{path}` в конце ролика другое значение, чем в начале";
    relief_moved() "the floor's relief does not return to its start: its drift is not a whole number"
        "рельеф пола не возвращается в начало: drift не целое число";
    particles_change() "its particles have a file for each frame" "у частиц на каждый кадр свой файл";
    blind_camera(frames) "the camera is at the point that it looks at, so its view has no direction: frames {frames}"
        "камера стоит в точке наблюдения, и у взгляда нет направления: кадры {frames}";
    inside_ball(ball, frames) "the eye is inside of {ball}: frames {frames}" "камера внутри {ball}: кадры {frames}";
    light_inside(light, shape, frames)
        "{light} is inside of {shape}, which lets no light out: frames {frames}; move one of them, or give the shape `transparency`"
        "{light} внутри непрозрачной фигуры ({shape}), и его свет не выходит: кадры {frames}; сдвиньте что-то одно или задайте фигуре `transparency`";
    light_below(light, frames)
        "{light} is below the floor, which hides it from all that stands above: frames {frames}; raise its `position`"
        "{light} под полом, и пол заслоняет его от всего, что выше: кадры {frames}; поднимите его `position`";
    dark_inside(shape, frames)
        "the camera is inside of {shape}, which lets no light in: frames {frames}; move the camera, or put a light into the shape"
        "камера внутри непрозрачной фигуры ({shape}), куда не попадает свет: кадры {frames}; сдвиньте камеру или поместите источник света внутрь";
    unseen(which) "{which}: never in the camera's sight" "{which}: не попадает ни в один кадр";
    grey_sky(code, tone)
        "the sky's white is shown as {code} of 255: the tone curve \"{tone}\" keeps room for what is brighter; `tone = \"clip\"` in [film] shows it as it is"
        "белое небо выглядит как {code} из 255: кривая \"{tone}\" оставляет место для более яркого; `tone = \"clip\"` в [film] покажет его как есть";
    sun_behind_glass()
        "paths meet the sun behind glass by chance, which leaves white dots: `caustics = true` in [render] finds it behind the flat faces of bodies, and `clamp = 1` dims the dots of other glass"
        "пути попадают в солнце за стеклом случайно, и остаются белые точки: `caustics = true` в [render] находит его за плоскими гранями тел, а `clamp = 1` приглушает точки от другого стекла";
    smooth_grain()
        "`anisotropy` changes nothing where `roughness` is 0: a smooth metal shows no grain; give it a `roughness`"
        "`anisotropy` ничего не меняет, где `roughness` равна 0: у гладкого металла шлифовка не видна; задайте `roughness`";
    frame_number(list) "frame {list}" "кадр {list}";
    frame_numbers(list) "frames {list}" "кадры {list}";
    up_to(percent) "up to {percent}" "до {percent}";
    nothing_in_sight(frames) "nothing is in sight in {frames}" "ничего не видно: {frames}";
    black_frame(frames) "{frames} is black: is there a light?" "изображение чёрное: {frames}; есть ли источник света?";
    black_frames(frames) "{frames} are black: is there a light?" "изображение чёрное: {frames}; есть ли источник света?";
    burnt_out(percent, frames) "{percent} of {frames} are burnt out: lower `exposure` in [film], or the lights"
        "пересвечено {percent} пикселей: {frames}; уменьшите `exposure` в [film] или яркость источников света";
    faded_particles(percent, frames)
        "{percent} of the particles' pixels in {frames} get more light than their colors can show, which fade toward white and leave the color map: lower `exposure` in [film] (\"auto\" finds it), the sky or the lights"
        "{percent} пикселей частиц получают больше света, чем может показать цвет, и уходят в белое, прочь от цветовой шкалы: {frames}; уменьшите `exposure` в [film] (\"auto\" найдёт её), небо или свет";

    // The page of `polyfly report`.
    film_elsewhere(film) "{film} is not shown: nothing says that it is of this scene; --film shows it"
        "{film} не показан: нигде не сказано, что это ролик этой сцены; --film покажет его";
    kilobytes(number) "{number} kB" "{number} кБ";
    megabytes(number) "{number} MB" "{number} МБ";
    gigabytes(number) "{number} GB" "{number} ГБ";
    frames() "frames" "кадры";
    frames_of(total, width, height, fps) "{total} of {width} × {height}, {fps} a second" "{total}, {width} × {height}, {fps} в секунду";
    files() "files" "файлы";
    whole() "whole" "готово";
    of(part, total) "{part} of {total}" "{part} из {total}";
    time_on_devices() "time on devices" "время на устройствах";
    seconds(number) "{number} s" "{number} с";
    a_frame() "a frame" "на кадр";
    times_of_a_frame(mean, median, min, max) "{mean} ms; median {median}, from {min} to {max}"
        "{mean} мс; медиана {median}, от {min} до {max}";
    rays() "rays" "лучи";
    millions_of_rays(count, rate) "{count} million, {rate} million a second" "{count} млн, {rate} млн в секунду";
    time_of_runs() "time of runs" "время прогонов";
    seconds_in_runs(seconds, runs, all) "{seconds} s in {runs} of {all}" "{seconds} с, учтено прогонов: {runs} из {all}";
    denoised() "denoised" "шум подавлен";
    by_the_denoiser() "by Open Image Denoise: outside the promise of equal bytes"
        "с помощью Open Image Denoise: равенство байтов не обещано";
    scene() "scene" "сцена";
    frames_heading() "Frames" "Кадры";
    frames_picture() "frames from all over the clip" "кадры со всего ролика";
    the_film() "the film" "ролик";
    figures_heading() "Figures" "Графики";
    times_plot() "Time of each frame on its device" "Время каждого кадра на устройстве";
    milliseconds() "milliseconds" "миллисекунды";
    frame_axis() "frame" "кадр";
    stages_plot() "Stages" "Стадии";
    render_stage() "render" "рендеринг";
    encode_stage() "convert and encode" "преобразование и кодирование";
    write_stage() "write" "запись";
    rays_plot() "Rays" "Лучи";
    million() "million" "млн";
    primary_rays() "camera, mirrors, glass" "камера, зеркала, стекло";
    shadow_rays() "shadows" "тени";
    shares_plot() "Devices' shares" "Доли устройств";
    time_at_work() "time at work" "время работы";
    per_cent() "per cent" "проценты";
    runs_heading() "Runs" "Прогоны";
    run_heads() "<tr><th>machine<th>processor<th>devices<th>threads<th>frames<th>seconds</tr>"
        "<tr><th>машина<th>процессор<th>устройства<th>потоки<th>кадры<th>секунды</tr>";
    was_killed() "it was killed" "прерван";
    scene_heading() "Scene" "Сцена";
    resolved_scene() "as it was resolved, in TOML" "как она была прочитана, в TOML";
    scene_too_long() "It is too long to stand here." "Она слишком длинная для этой страницы.";
    sums_of_files() "SHA-256 of the files that it names" "SHA-256 файлов, которые она называет";
    made_by(version) "made by polyfly {version}" "сделано программой polyfly {version}";
    code_of_page() "en" "ru";
}

impl Language {
    /// The kind of a file that a scene names.
    pub(crate) fn kind(self, kind: &str) -> String {
        match kind {
            "texture" => self.texture(),
            "sky" => self.sky_file(),
            "mesh" => self.mesh_file(),
            "relief" => self.map_file(),
            "particles" => self.particles_file(),
            _ => kind.to_owned(),
        }
    }

    /// Words as a sentence lists them: `a, b or c`.
    pub(crate) fn one_of(self, words: &[String]) -> String {
        match words.split_last() {
            Some((last, others)) if !others.is_empty() => self.either(others.join(", "), last),
            _ => words.concat(),
        }
    }
    /// The same with "and".
    pub(crate) fn all_of(self, words: &[String]) -> String {
        match words.split_last() {
            Some((last, others)) if !others.is_empty() => self.both(others.join(", "), last),
            _ => words.concat(),
        }
    }

    /// The language of a locale's name, such as `ru_RU.UTF-8`. Only UTF-8 shows all letters.
    pub(crate) fn of_locale(name: &str) -> Language {
        let (words, charset) = name.split_once('.').unwrap_or((name, ""));
        let charset = charset.split('@').next().unwrap_or_default().replace('-', "");
        let is_russian = words == "ru" || words.starts_with("ru_");
        if is_russian && charset.eq_ignore_ascii_case("utf8") { Language::Russian } else { Language::English }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    // The parts in braces.
    fn parts(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect()
    }

    #[test]
    fn every_message_stands_in_both_languages_with_the_same_parts() {
        let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
        for (name, english, russian) in
            TABLE.iter().chain(commands::TABLE).chain(scenes::TABLE).chain(files::TABLE).chain(remarks::TABLE)
        {
            assert!(!english.is_empty() && english.is_ascii() || english.contains('×'), "{name}: {english}");
            assert_eq!(parts(english), parts(russian), "{name}");
            // Texts of numbers and parts alone may be alike.
            let said: String =
                english.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
            let has_words = *name != "code_of_page" && said.chars().any(char::is_alphabetic);
            assert!(!has_words || russian.chars().any(is_cyrillic), "{name} is not translated: {russian}");
            // Names that people type stay as they are.
            let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
            let missing: Vec<String> = quoted(russian).difference(&quoted(english)).cloned().collect();
            assert!(missing.is_empty(), "{name}: {missing:?}");
        }
    }

    #[test]
    fn a_locale_that_cannot_show_russian_gets_english() {
        for name in ["ru_RU.UTF-8", "ru_RU.utf8", "ru_UA.UTF-8@euro", "ru.UTF-8"] {
            assert_eq!(Language::of_locale(name), Language::Russian, "{name}");
        }
        for name in
            ["", "C", "C.UTF-8", "ru_RU", "ru_RU.KOI8-R", "ru_RU.CP1251", "run_RU.UTF-8", "en_US.UTF-8", "POSIX"]
        {
            assert_eq!(Language::of_locale(name), Language::English, "{name}");
        }
    }
}
