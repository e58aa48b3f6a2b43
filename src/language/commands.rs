//! The part of the table that command lines and requests need: what is wrong with them, and with what exists already.

use super::Language;
use std::fmt::Display;

messages! {
    // Runs that were stopped.
    run_interrupted(done, total) "interrupted after {done} of {total}; written files are complete"
        "прервано: {done} из {total}; записанные файлы целы";
    video_interrupted() "interrupted while the video was made" "прервано во время сборки ролика";
    video_interrupted_at(path) "interrupted while the video was made; its beginning is in {path}"
        "прервано во время сборки ролика; его начало в {path}";

    // A scene's text that --set has changed.
    as_set(name) "{name} (as --set has it)" "{name} (с изменениями --set)";

    // Lists of frames.
    no_frame_list(part) "`{part}` names no frames; expected N, A-B or A..B, A-BxSTEP, A- (to the end), -N (from the end), last or all"
        "`{part}` не называет кадров; ожидалось: N, A-B или A..B, A-BxSTEP, A- (до конца), -N (от конца), last или all";
    before_first_frame(part, total) "`{part}` is before frame 0: the scene has {total}"
        "`{part}` раньше кадра 0: в сцене {total}";
    step_is_zero(part) "the step of `{part}` is 0" "в `{part}` шаг равен 0";
    runs_backwards(part, forwards) "`{part}` runs backwards: did you mean {forwards}?" "`{part}` идёт назад: возможно, вы имели в виду {forwards}?";
    beyond_last_frame(part, frame, last) "`{part}` reaches frame {frame}, and the scene has frames 0-{last}"
        "`{part}` доходит до кадра {frame}, а в сцене кадры 0-{last}";
    overlaps_too_often(part) "`{part}` overlaps the parts before it too often: write separate ranges"
        "`{part}` слишком часто пересекается с предыдущими частями: запишите отдельные диапазоны";
    too_many_parts(max) "there are more than {max} parts" "частей больше {max}";
    no_such_frame(frame, last) "there is no frame {frame}: the scene has frames 0-{last}" "кадра {frame} нет: в сцене кадры 0-{last}";

    // Names of files.
    says(what, why) "{what}: {why}" "{what}: {why}";
    not_utf8(name) "{name}: the name is not UTF-8" "{name}: имя не в UTF-8";
    full_path_not_utf8(name) "{name}: the full path is not UTF-8, which encoders require"
        "{name}: полный путь не в UTF-8, а кодировщикам нужен UTF-8";
    folder_of_frames(text, folder) "`{text}` is a folder; name the frames in it, such as {folder}/%04d.png"
        "`{text}`: это папка; назовите кадры в ней, например {folder}/%04d.png";
    one_file_for_many(text, many, pattern) "`{text}` is one file, and there are {many} frames: write -o {pattern}"
        "`{text}`: один файл, а кадров {many}: напишите -o {pattern}";
    name_of_a_film(text) "--output: `{text}` is the name of a film, and -o names frames"
        "--output: `{text}`: имя ролика, а -o называет кадры";
    makes_a_film(text) "`--video {text}` makes a film" "`--video {text}` сделает ролик";
    no_format_writes(name) "no format writes {name}" "нет формата, которым пишется {name}";
    no_format_reads(name) "no format reads {name}" "нет формата, которым читается {name}";
    no_stream_format(list) "--output: no such format; expected {list}" "--output: такого формата нет; ожидалось: {list}";
    has_other_bits(extension, bits, asked) ".{extension} has {bits} bits a channel, not {asked}"
        "в .{extension} бит на канал {bits}, а не {asked}";
    give_other_bits(place, why) "{place}: {why}; give other `bits`" "{place}: {why}; укажите другие `bits`";
    too_wide_for_format(extension, max, width, height) "a .{extension} has at most {max} pixels a side, not {width} x {height}"
        "сторона .{extension} не больше {max} пикселей, а здесь {width} x {height}";
    no_film_name(flag, name, what, all) "{flag}: `{name}` {what}: expected a name that ends in {all} or .y4m"
        "{flag}: `{name}` {what}: ожидалось имя с расширением {all} или .y4m";
    raw_is_not_encoded(name, flag) "{name} is raw video, and {flag} is of an encoder: leave it out, or name a film such as .mp4"
        "{name}: несжатое видео, а {flag} относится к кодировщику: уберите его или назовите ролик, например .mp4";
    has_extension(extension) "is a `.{extension}` file" "имеет расширение .{extension}";
    has_no_extension() "has no extension" "без расширения";

    // What exists already.
    there_already(path) "{path} already exists" "{path} уже есть";
    another_folder() "give another folder, or --overwrite" "укажите другую папку или --overwrite";
    another_name() "give another name, or --overwrite" "укажите другое имя или --overwrite";
    already_exists(path, why) "{path} already exists: {why}" "{path} уже существует: {why}";
    keeps_complete_frames(path) "{path} already exists: --resume keeps complete frames and renders the others, --overwrite renders all"
        "{path} уже существует: --resume сохранит готовые кадры и нарисует остальные, --overwrite нарисует все";
    unknown_scene_of_frames(path, frame)
        "{path} has frames, such as {frame}, and no manifest.json, so their scene is unknown: give another folder, remove these frames, or --overwrite"
        "в {path} есть кадры, например {frame}, но нет manifest.json, и их сцена неизвестна: укажите другую папку, удалите эти кадры или дайте --overwrite";
    frame_was_replaced(path, frames)
        "{path} is a frame of another scene, whose run has replaced frames {frames} of this clip: give another folder, or --overwrite to render them again"
        "{path} — кадр другой сцены: её запуск заменил кадры {frames} этого ролика; укажите другую папку или дайте --overwrite, чтобы нарисовать их заново";
    frames_were_replaced(path, count, all, frames)
        "{count} of {all} frames in {path} were replaced by another scene: {frames}; --overwrite renders them again"
        "другая сцена заменила в {path} кадры {frames} (заменено: {count}, всего кадров {all}); --overwrite нарисует их заново";
    still_of_unknown_scene(path)
        "{path} already exists, and it does not say that it is this picture of this scene: give another name, or --overwrite to render it again"
        "{path} уже существует, и в нём не сказано, что это тот же кадр той же сцены: укажите другое имя или дайте --overwrite, чтобы нарисовать его заново";
    foreign_frame(path) "{path} is not a frame of this clip: another run wrote it; remove such files, or give --overwrite"
        "{path} не кадр этого ролика: его записал другой запуск; удалите такие файлы или дайте --overwrite";
    keeps_this_video() "--resume keeps it and makes what is missing, --overwrite makes it again"
        "--resume сохранит его и доделает недостающее, --overwrite сделает заново";
    completes_this_video() "--resume makes a complete one of the frames, --overwrite renders all frames again"
        "--resume сделает из кадров полный ролик, --overwrite нарисует все кадры заново";
    replaces_same_only() "--resume replaces videos of the same pictures only; name another file with --video, or give --overwrite too"
        "--resume заменяет только ролики из тех же картинок; назовите другой файл в --video или добавьте --overwrite";
    name_another_video() "name another file with --video, or give --overwrite to replace it"
        "назовите другой файл в --video или дайте --overwrite, чтобы заменить его";
    other_video_exists(path)
        "{path} already exists, and is not a video of these frames: give another name with -o, or --overwrite to replace it"
        "{path} уже существует, и это не ролик из этих кадров: укажите другое имя в -o или --overwrite, чтобы заменить его";
    resume_or_overwrite()
        "--resume keeps frames, --overwrite renders them again: give one of them, or a video that --overwrite replaces"
        "--resume сохраняет кадры, --overwrite рисует их заново: дайте что-то одно или ролик, который заменит --overwrite";
    is_a_file(name) "{name} is a file: expected a folder of frames, or their pattern"
        "{name}: это файл; ожидалась папка кадров или их шаблон";
    several_patterns(name, names) "{name} has frames of several patterns: give one of them, such as {names}"
        "в {name} кадры с разными шаблонами: укажите один из них, например {names}";
    pictures_without_manifest(name, manifest, pattern)
        "{name} has pictures, but no {manifest}, so their scene is unknown; `polyfly stitch` makes a video of them by a pattern such as {pattern}"
        "в {name} есть картинки, но нет {manifest}, и их сцена неизвестна; `polyfly stitch` сделает из них ролик по шаблону, например {pattern}";

    // Films.
    no_codec(name) "there is no codec `{name}`" "кодека `{name}` нет";
    holds_not(extension, all, name) "--codec: a .{extension} holds {all}, not {name}" "--codec: в .{extension} бывает {all}, но не {name}";
    has_own_codec(extension, name) "--codec: a .{extension} has a codec of its own, not {name}: leave the flag out"
        "--codec: у .{extension} свой кодек, а не {name}: уберите этот флаг";
    eight_bits_only(path) "{path} has eight bits a channel: no --hdr, no --video-bits 10"
        "в {path} восемь бит на канал: без --hdr и без --video-bits 10";
    hdr_has_ten_bits() "--hdr: HDR10 has ten bits, not --video-bits 8" "--hdr: в HDR10 десять бит, а не --video-bits 8";
    hdr_comes_in(all, name) "--hdr: HDR10 comes in {all}, not {name}" "--hdr: HDR10 бывает в {all}, но не в {name}";
    codec_has_eight_bits(name) "--video-bits: {name} has eight bits a channel" "--video-bits: в {name} восемь бит на канал";
    no_quality(name) "--crf: {name} has no quality setting" "--crf: у {name} нет настройки качества";
    needs_linear(extension) "a video of ten bits needs linear light, and .{extension} files are stored after the tone curve: render .exr files"
        "для ролика с десятью битами нужен линейный свет, а .{extension} хранит картинку после тоновой кривой: рисуйте .exr";
    no_raw_shard() "a shard cannot make a .y4m: leave --video out, and run `polyfly stitch` after the last shard"
        "часть не может сделать .y4m: уберите --video и запустите `polyfly stitch` после последней части";
    shards_need_frames() "--no-frames keeps no frames for the other shards' video: leave it out"
        "с --no-frames не останется кадров для ролика других частей: уберите его";
    not_resumed_without_frames() "a .y4m, or a video made without ffmpeg, is not resumed without frames: keep them"
        "ролик .y4m или сделанный без ffmpeg не продолжить без кадров: сохраните их";
    frames_of_a_stream() "--output: frames of a stream are gone: no --resume, no --shard, and no --no-frames"
        "--output: кадры потока не сохраняются: без --resume, --shard и --no-frames";
    nothing_to_write() "--no-frames leaves nothing to write: name a video with --video"
        "с --no-frames писать нечего: назовите ролик в --video";
    video_not_made(video, why) "{video} is not made: {why}; name a video of this run with --video"
        "{video} не делается: {why}; назовите ролик этого запуска в --video";
    nothing_left_to_write(why) "--no-frames leaves nothing to write. {why}" "с --no-frames писать нечего. {why}";
    shows_all_frames() "it shows all frames of the scene, and this run renders some of them"
        "в нём все кадры сцены, а этот запуск рисует не все";
    belongs_to_own_frames() "it belongs to the frames at the scene's own path, and this run writes to another one"
        "он относится к кадрам по пути из сцены, а этот запуск пишет по другому";
    more_shards_than_frames() "there are more shards than frames: this one has none" "частей больше, чем кадров: этой ничего не досталось";
    picture_beyond_memory(width, height, takes, may)
        "a picture of {width} x {height} pixels takes about {takes} MiB of memory, and may take {may}: ask for a smaller size"
        "для картинки {width} x {height} нужно около {takes} МиБ памяти, а можно {may}: уменьшите размер";
    too_much_memory(width, height, takes, may)
        "a run of {width} x {height} pixels takes about {takes} MiB of memory, and may take {may}: ask for a smaller --size, for no .exr or --denoise, for smaller textures and meshes, or raise --limit-memory"
        "для {width} x {height} пикселей нужно около {takes} МиБ памяти, а можно {may}: уменьшите --size, уберите .exr или --denoise, уменьшите текстуры и сетки или увеличьте --limit-memory";

    // Flags that the scene does not allow.
    no_floor_for_texture() "--texture: the scene has no floor" "--texture: в сцене нет пола";
    no_texture_name(text, expected) "--texture: `{text}`: expected {expected}" "--texture: `{text}`: ожидалось: {expected}";
    not_a_key(path) "`{path}` is not a key; expected a path such as film.exposure, camera.eye.r or body[0].radius"
        "`{path}` не ключ; ожидался путь, например film.exposure, camera.eye.r или body[0].radius";
    no_such_element(path, index, count) "there is no `{path}[{index}]`: the scene has {count} of them, counted from 0"
        "элемента `{path}[{index}]` нет: в сцене их {count}, счёт от 0";
    not_a_table(path) "`{path}` is not a table" "`{path}` не таблица";
    say_which(path, key) "`{path}` is a list: say which of them, as in `{path}[0].{key}`"
        "`{path}` список: укажите, который из них, например `{path}[0].{key}`";
    key_of_tables(key, paths) "`{key}` is a key of tables: write {paths}" "`{key}` ключ таблиц: напишите {paths}";
    scene_not_toml(why) "the scene is not TOML: {why}" "сцена не в TOML: {why}";
    shutter_takes_samples() "--samples: the scene has a shutter, which spreads all samples over its moments"
        "--samples: в сцене есть затвор, и все лучи распределены по его моментам";
    alpha_takes_samples() "--samples: the sky is transparent: all samples of a pixel count alike in its alpha"
        "--samples: небо прозрачно: в альфа-канале все лучи пикселя равны";
    stream_not_shown() "--open: a stream leaves no file to show" "--open: поток не оставляет файла, который можно показать";
    no_file_to_show() "--open: the run has left no file to show" "--open: запуск не оставил файла, который можно показать";
    give_a_scene() "give a scene: a file, or text on stdin; `polyfly new my.toml` writes one to begin with, `polyfly --default | polyfly` renders the sample"
        "укажите сцену: файл или текст на входе; `polyfly new my.toml` записывает сцену для начала, `polyfly --default | polyfly` рисует пример";

    // Jobs.
    no_page(name) "there is no page `{name}`" "страницы `{name}` нет";
    the_pages_are(names) "the pages are {names}" "есть страницы: {names}";
    no_such_word(word) "there is no key, flag, job or exit code `{word}`" "нет ни ключа, ни флага, ни команды, ни кода выхода `{word}`";
    no_near_word() "`polyfly explain` tells what it takes" "`polyfly explain` перечисляет, что можно указать";
    no_scene_named(name) "there is no scene {name}" "сцены {name} нет";
    scene_file_expected(name) "{name}: expected a file that ends in .toml or, for the coursework's tokens, .txt"
        "{name}: ожидался файл с расширением .toml или, для токенов курсовой, .txt";
    file_or_folder_expected(name, ending) "{name}: expected a file that ends in {ending}, or a folder"
        "{name}: ожидался файл с расширением {ending} или папка";
    scene_ending_expected(name) "{name}: a scene is written to .toml or, in tokens, .txt; or give --to"
        "{name}: сцена пишется в .toml или, токенами, в .txt; или укажите --to";
    holds_no_scene(name) "{name} does not hold its scene: .png and .exr that polyfly has rendered do, from version 0.1"
        "в {name} нет сцены: она есть в .png и .exr, которые нарисовала polyfly начиная с версии 0.1";
    name_what_to_make(name) "{name} is a picture: name the one to make of it" "{name}: это картинка; назовите ту, которую из неё сделать";
    picture_endings(name, endings) "{name}: a picture ends in {endings}" "{name}: расширение картинки: {endings}";
    cannot_have_size(name, width, height) "{name} cannot have {width} x {height} pixels" "в {name} не бывает {width} x {height} пикселей";
    would_be_replaced(name) "-o {name}: it is compared, and would be replaced; give another name"
        "-o {name}: этот файл сравнивается и был бы заменён; укажите другое имя";
    not_alike(first, a, second, b) "{first} is {a} and {second} is {b}: compare two pictures, two folders of frames or two films"
        "{first}: {a}, {second}: {b}; сравниваются две картинки, две папки кадров или два ролика";
    a_picture() "a picture" "картинка";
    a_folder_of_frames() "a folder of frames" "папка кадров";
    a_film() "a film" "ролик";
    animated_webp(name) "{name} is an animated .webp, which is not decoded: compare its frames"
        "{name}: анимация .webp, она не декодируется: сравните её кадры";
    comparable_expected(name, pictures, films) "{name}: expected a picture ({pictures}), a film ({films}), a folder of frames or their pattern"
        "{name}: ожидалась картинка ({pictures}), ролик ({films}), папка кадров или их шаблон";
    two_pictures(folder, number, other) "{folder} has two pictures {number}; one is {other}: name a pattern, as `{folder}/%04d.png`"
        "в {folder} две картинки {number}, одна из них {other}: назовите шаблон, `{folder}/%04d.png`";
    no_numbered_pictures(path) "{path} has no pictures with numbers in their names" "в {path} нет картинок с номерами в именах";
    frames_lost(frames) "frames {frames} were deleted or damaged during the run: --resume renders them again"
        "кадры {frames} удалены или испорчены во время запуска: --resume нарисует их заново";
    no_folder_of_frames(path) "there is no folder {path}" "папки {path} нет";
    no_frames_written(path, manifest) "{path} has no {manifest}: no run has written frames there"
        "в {path} нет {manifest}: ни один запуск не писал туда кадров";
    frames_missing(frames, path) "frames {frames} of {path} are missing" "в {path} нет кадров {frames}";
    no_video_of_gaps(frames, path) "frames {frames} in {path} are missing or incomplete; no video is made"
        "кадры {frames} в {path} отсутствуют или неполны; видео не сделано";
    changes_no_scene(flag) "{flag} changes the expected scene, and none is given: name it with --scene, or leave out {flag}"
        "{flag} меняет ожидаемую сцену, а она не указана: назовите её в --scene или уберите {flag}";
    one_frame_for_balance(frames) "--balance measures one frame, and --frames names {frames}: write one of them"
        "--balance измеряет один кадр, а --frames называет {frames}: укажите один из них";
    frames_to_render(missing, all) "{missing} of {all} frames are missing or incomplete" "отсутствуют или неполны: {missing}, всего кадров {all}";
    has_another_scene(path, places) "{path} has frames of another scene; what differs: {places}" "в {path} кадры другой сцены; различаются: {places}";
    first_and_more(first, more) "{first} and {more} more" "{first} и ещё {more}";
    folder_of_its_own() "`-o NEW/%04d.png` gives these a folder of their own; --overwrite renders all of them again"
        "`-o NEW/%04d.png` запишет их в отдельную папку; --overwrite нарисует все заново";
    cannot_write(name, why) "cannot write {name}: {why}" "{name}: файл не записывается: {why}";
    cannot_write_into(folder) "cannot write into {folder}: permission denied" "в {folder} ничего не записать: нет прав";
    write_elsewhere() "`-o FOLDER/%04d.png` writes frames into another folder" "`-o FOLDER/%04d.png` запишет кадры в другую папку";
    no_space_left() "no space is left" "на диске нет места";
    folder_is_locked(path, seconds) "another process has held {path} for {seconds} s: it or its machine may be gone"
        "другой процесс держит {path} уже {seconds} с: возможно, его или его машины больше нет";
    folder_taken_over(path)
        "another run has taken over {path} for other frames: this run stops, and no manifest lists its frames there any more"
        "другой запуск занял {path} для других кадров: этот запуск прекращается, и его кадров там нет больше ни в одном manifest.json";
    no_frames_named(name) "there are no frames {name}" "кадров {name} нет";
    not_handed_over() "--submit: only slurm and hyperqueue are handed the job; print it for the others"
        "--submit: задание передаётся только slurm и hyperqueue; для остальных напечатайте его";
    flags_behind(why) "the flags behind `--`: {why}" "флаги после `--`: {why}";
    not_in_a_job(what) "{what} does not fit a job: each task renders the missing frames of its shard"
        "{what} не подходит заданию: каждая задача рисует недостающие кадры своей части";
    another_job() "another job" "другая команда";
    scene_on_stdin() "a scene on stdin" "сцена на входе";
    frames_to_a_stream() "-o to a stream" "вывод -o в поток";
    single_picture(name) "{name} is a single picture: render it without a job" "{name}: одна картинка; нарисуйте её без задания";
    slurm_limit(max) "--shards: Slurm's arrays have at most {max} tasks" "--shards: в массивах Slurm не больше {max} задач";
    line_break(text) "a name or flag contains a line break, which a job cannot hold: {text}"
        "в имени или флаге перевод строки, которого в задании быть не может: {text}";
    braces_in_a_name(braces) "`{braces}` in a name would be an expression of the Open Job Description"
        "`{braces}` в имени было бы выражением Open Job Description";
    give_particles() "give CPU or GPU, a file of particles, width, height and the picture's name; or `generate`"
        "укажите CPU или GPU, файл частиц, ширину, высоту и имя картинки или `generate`";
    picture_expected(name, endings) "`{name}`: expected a picture whose name ends in {endings}"
        "`{name}`: ожидалась картинка с расширением {endings}";
    no_series(name) "--step: {name} names no series: it has no %d or %04d" "--step: {name} не называет ряда: в имени нет %d или %04d";
    eye_at_the_point() "the eye must be away from what it looks at, and the image plane have a width"
        "камера не может стоять в точке наблюдения, а ширина картинной плоскости равняться нулю";
    shares_expected() "--ambient and --diffuse: expected shares of 0 or more" "--ambient и --diffuse: ожидались доли не меньше 0";
    steps_need_a_number() "several time steps need a file name with %d" "для нескольких шагов времени нужно имя файла с %d";
    no_particle_file(name)
        "{name}: no particles are written to such a file; expected .csv, .xyzr or .txt (tables) or .bin (the `sphere` code's), or a --layout"
        "{name}: в такой файл частицы не пишутся; ожидалось .csv, .xyzr или .txt (таблицы), .bin (программы `sphere`) или --layout";
    no_other_layout(name) "{name}: .csv, .xyzr and .txt are extensions of tables, and of no other layout: such a file could not be read"
        "{name}: .csv, .xyzr и .txt бывают только у таблиц: иначе файл нельзя было бы прочитать";

    // Requests of the studio's page, and of pages that render in steps.
    neither_nor(word) "`{word}` is neither resume nor overwrite" "`{word}`: не resume и не overwrite";
    studio_failed(why) "the studio failed: {why}" "сбой студии: {why}";
    request_too_long() "the request is too long" "запрос слишком длинный";
    bad_request(why) "the request is invalid: {why}" "неверный запрос: {why}";
    a_run_is_going_on() "a run is going on" "запуск ещё идёт";
    studio_ends() "the studio is ending" "студия завершает работу";
    seven_numbers() "view: expected seven numbers" "view: ожидалось семь чисел";
    no_scene_there() "there is no scene" "сцены нет";
    no_such_step(count, step) "the round has {count} steps, and no step {step}" "в круге шагов {count}, шага {step} нет";
    other_picture(step, expected, bytes) "step {step} has {expected} bytes and not {bytes}: it is of another picture"
        "в шаге {step} байтов {expected}, а не {bytes}: он от другой картинки";
    step_is_missing(step) "step {step} is not rendered yet" "шаг {step} ещё не нарисован";
    picture_is_finished() "the picture is finished, and has no more steps" "картинка готова, шагов больше нет";
}
