//! The part of the table about a run: remarks on what it does, and failures of devices, encoders and the system.

use super::Language;
use std::fmt::Display;

messages! {
    // What a run finds and does.
    frames_complete(done, total) "{done} of {total} frames exist and are complete" "готово кадров: {done} из {total}";
    frames_again(count) "{count} existing frames are rendered again: their files lose information that the video needs"
        "готовых кадров {count} рисуются заново: в их файлах нет того, что нужно для ролика";
    video_complete(path) "{path} already exists, with all of these frames" "{path} уже есть, и в нём все эти кадры";
    on_the_cpu(why) "{why}; rendering on the CPU" "{why}; рисует процессор";
    loses_alpha(name) "{name} has no alpha: a transparent sky becomes black (.png, .exr and others keep alpha)"
        "в {name} нет альфа-канала: прозрачное небо станет чёрным (.png, .exr и другие его сохраняют)";
    film_loses_alpha(name) "{name} has no alpha: a transparent sky becomes black (a .mov with `--codec prores`, .webp and .gif keep alpha)"
        "в {name} нет альфа-канала: прозрачное небо станет чёрным (его сохраняют .mov с `--codec prores`, .webp и .gif)";
    no_room_for_legend(width, height) "a picture of {width} x {height} pixels has no room for the legend, which is left out: make it larger, as with --size 640x480"
        "в картинке {width} x {height} нет места для легенды, и её не будет: увеличьте картинку, например --size 640x480";
    padded(width, height, wide, tall) "video needs even sides: {width} x {height} is padded to {wide} x {tall}"
        "стороны ролика должны быть чётными: {width} x {height} дополняется до {wide} x {tall}";
    hardware_encoder(path, name) "{path}: {name} is a hardware encoder: the video's bytes depend on the machine, the frames do not"
        "{path}: {name} кодирует на видеокарте, и байты ролика зависят от машины, а кадры нет";
    built_in_encoder() "ffmpeg was not found: the built-in OpenH264 encodes the video, with a larger file at the same quality"
        "ffmpeg не найден: ролик кодирует встроенный OpenH264, файл будет больше при том же качестве";
    long_journal(path) "{path} is too long for a journal: the rest of it is not read"
        "{path} слишком длинный для журнала: остаток не читается";
    begun_as(path, name) "{path} was begun as with `--encode {name}`, and goes on so"
        "{path} начат как с `--encode {name}` и продолжается так же";
    unknown_tone(name) "the scene of {name} is unknown: its linear light is shown with `tone = \"soft\"`"
        "сцена {name} неизвестна: линейный свет показан с `tone = \"soft\"`";
    video_has_frames(path, frames) "{path} has {frames}" "{path}: в нём {frames}";
    video_has_frames_already(path, frames) "{path} has {frames} already" "{path}: уже есть {frames}";
    no_format_named(text, first) "`{text}` does not name a format (.png, .exr ...): frames are {first} ..."
        "`{text}` не называет формата (.png, .exr ...): кадры пишутся как {first} ...";
    shard_without_ffmpeg() "ffmpeg was not found: this shard's part of the video is left to `polyfly stitch`"
        "ffmpeg не найден: ролик из этой части сделает `polyfly stitch`";
    unfinished_removed(path, count) "{path}: {count} unfinished files of earlier runs removed"
        "{path}: удалено недописанных файлов прежних запусков: {count}";
    foreign_files_set_aside(count, folder)
        "files that no manifest lists were in the way: {count}; they are in {folder}"
        "на пути были файлы, которых нет ни в одном manifest.json: {count}; теперь они в {folder}";
    replaced_frames_kept(count, folder)
        "earlier frames that are not replaced yet: {count}; they are in {folder} until the new ones are complete"
        "прежние кадры, ещё не заменённые новыми: {count}; они в {folder}, пока не готовы новые";
    foreign_frames_kept(path, frames)
        "{path} keeps frames {frames} of another scene; no manifest lists the new ones, so --resume cannot keep them"
        "в {path} остаются кадры {frames} другой сцены; новых нет ни в одном manifest.json, и --resume их не сохранит";
    outside_the_promise() "denoised by Open Image Denoise: these pictures are outside the promise of equal bytes"
        "шум подавлен с помощью Open Image Denoise: для этих картинок равенство байтов не обещано";
    video_failed() "the video failed; the frames continue" "ролик не получился; кадры пишутся дальше";
    device_replaced(why) "a device failed, and others took its tasks: {why}"
        "одно устройство отказало, его работу взяли другие: {why}";

    // The progress of a run.
    about_to_go(done, frames, left) "frames done: {done} of {frames}, about {left} to go" "готово кадров: {done} из {frames}, осталось около {left}";
    share_of_device(device, percent, seconds) "{device}: {percent} % of the rays, {seconds} s busy" "{device}: {percent} % лучей, занято {seconds} с";
    faster_together(factor) "together {factor} times as fast as the fastest of them computes alone"
        "вместе в {factor} раза быстрее, чем самое быстрое из них отдельно";
    time_in_seconds(number) "{number} s" "{number} с";
    time_in_milliseconds(number) "{number} ms" "{number} мс";
    time_in_minutes(number) "{number} min" "{number} мин";
    time_in_hours(hours, minutes) "{hours} h {minutes} min" "{hours} ч {minutes} мин";
    run_took(frames, time, rate, stage) "{frames} in {time} ({rate} a second; {stage} took longest)"
        "{frames} за {time} ({rate} в секунду; дольше всего: {stage})";
    frame_took(frame, time, stage) "{frame} in {time} ({stage} took longest)" "{frame} за {time} (дольше всего: {stage})";
    render_took() "render" "рендеринг";
    encode_took() "encode" "кодирование";
    write_took() "write" "запись";
    waiting_for_the_encoder() "waiting for the encoder" "ожидание кодировщика";
    about(size) "about {size}" "около {size}";
    verified(scene, devices, frames, all) "{scene}: equal bytes on {devices}: {frames} of {all}"
        "{scene}: одинаковые байты на {devices}; проверено {frames}, всего в ролике {all}";
    sheet_shows(path, frames) "{path} shows {frames}" "{path} показывает {frames}";
    range_of(min, max) "{min} to {max}" "от {min} до {max}";
    quality(name, samples, bounces, rays) "quality {name}: {samples} a pixel, at most {bounces}, {rays} camera rays a frame"
        "качество {name}: {samples} на пиксель, предел: {bounces}; на кадр лучей из камеры: {rays}";
    at_most(number) "at most {number}" "не больше {number}";
    thousand(number) "{number} thousand" "{number} тыс.";
    millions(number) "{number} million" "{number} млн";
    busy_machine(percent) "other programs took {percent} % of this machine meanwhile: measure again when it is idle"
        "другие программы заняли {percent} % этой машины: измерьте снова, когда она свободна";
    wide_spread(device, percent) "{device}: repetitions differ by {percent} %: more repetitions (--runs) make the median more certain"
        "{device}: повторы отличаются на {percent} %: с большим числом повторов (--runs) медиана надёжнее";
    tokens_have_no_look(look) "tokens do not say how they look: render these with --look {look}" "в токенах нет вида: рисуйте эти с --look {look}";
    no_viewer(path) "--open: this system has no program that shows {path}" "--open: в системе нет программы, которая покажет {path}";

    // A run that is asked to stop.
    stops_at_once(why) "Ctrl-C will stop at once: {why}" "Ctrl-C остановит программу сразу: {why}";
    to_resume(command) "to resume: {command}" "продолжить: {command}";
    all_complete() "all files are complete; the rest of the log was not read" "все файлы готовы; остаток журнала не прочитан";
    stopped_at_once() "stopped at once; unfinished files are hidden ones, which the next run removes"
        "остановлено сразу; недописанные файлы скрыты, их удалит следующий запуск";
    stopped_before() "stopped before any work began: give the same command again" "остановлено до начала работы: повторите ту же команду";
    stopping() "stopping after the frames in flight; a second signal stops at once"
        "остановка после начатых кадров; второй сигнал остановит сразу";
    took_too_long(seconds) "the frames or the video in flight took more than {seconds} s, and are dropped"
        "начатые кадры или ролик заняли больше {seconds} с и отброшены";
    stopping_the_page() "stopping the run that the page has started, after its frames in flight; a second signal stops it at once"
        "запуск со страницы остановится после начатых кадров; второй сигнал остановит его сразу";

    // Jobs.
    usual_solids(names) "the bodies are not the usual three: render these tokens with --solids {names}"
        "тела не те три, что обычно: для этих токенов нужно --solids {names}";
    usual_look(name) "their look is not the usual one: render these tokens with --look {name}"
        "вид не тот, что обычно: для этих токенов нужно --look {name}";
    is_a_series(path) "{path} is a series: its step 0 is drawn; --step N draws another"
        "{path}: это серия, рисуется шаг 0; другой выбирает --step N";
    nothing_missing(command) "no frames are missing; what is left to do: {command}" "все кадры на месте; осталось: {command}";
    when_all_have_run(command) "when all of them have run: {command}" "когда все выполнятся: {command}";
    no_frames_for_shard(frames) "there are more shards than frames: this one has none of the {frames}"
        "частей больше, чем кадров ({frames}): этой ничего не досталось";
    no_scene_is_named() "no scene is named: this measures the sample, `polyfly --default`"
        "сцена не указана: измеряется пример, `polyfly --default`";
    studio_address() "the studio is at this address, for this machine only; Ctrl-C ends it"
        "студия по этому адресу, только для этой машины; Ctrl-C завершает её";
    no_browser(why) "--open: no browser starts: {why}" "--open: браузер не запускается: {why}";
    reads_a_file(name, template) "it reads {name}: `polyfly new FILE.toml --template {template}` writes that file too"
        "сцена читает {name}: `polyfly new FILE.toml --template {template}` запишет и этот файл";
    copy_or_show() "`polyfly scenes copy NAME` writes one into this folder, `polyfly scenes show NAME` prints it"
        "`polyfly scenes copy NAME` записывает пример в эту папку, `polyfly scenes show NAME` печатает его";
    first_frame_and_film(files, scene, film)
        "{files}: `polyfly {scene} --frames 0` renders the first frame, `polyfly {scene} --video {film}` the film"
        "{files}: `polyfly {scene} --frames 0` нарисует первый кадр, `polyfly {scene} --video {film}` сделает ролик";
    docs_in_browser() "opened in the browser" "открыто в браузере";
    docs_to_open() "open this address in a browser of this machine" "откройте этот адрес в браузере этой машины";
    docs_until(way) "{way}; Ctrl-C ends it; `polyfly docs --write DIR` writes the same pages as files"
        "{way}; Ctrl-C завершает показ; `polyfly docs --write DIR` записывает те же страницы в файлы";
    files_of_size(path, count, size) "{path}: {count}, {size}" "{path}: {count}, {size}";

    // Devices.
    out_of_memory(why) "{why}; a smaller --size needs less memory" "{why}; меньший --size занимает меньше памяти";
    panicked(name, why) "the thread of {name} panicked: {why}; please report this"
        "поток устройства {name} аварийно завершился: {why}; сообщите об этом, пожалуйста";
    #[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only WebAssembly has no drivers"))]
    no_gpu_in_wasm() "no GPU can be used from WebAssembly" "из WebAssembly видеокарта недоступна";
    no_driver(library) "there is no NVIDIA driver here ({library} is not found)" "драйвера NVIDIA здесь нет ({library} не найдена)";
    driver_lacks(library, name) "the NVIDIA driver does not fit: its {library} has no function {name}"
        "драйвер NVIDIA не подходит: в его {library} нет функции {name}";
    driver_too_old(has, needs) "the NVIDIA driver is too old: it speaks {has}, and {needs} is needed"
        "драйвер NVIDIA слишком старый: в нём {has}, а нужна {needs}";
    driver_sees_none() "the NVIDIA driver sees no GPU" "драйвер NVIDIA не видит видеокарт";
    no_such_gpu(number, count) "there is no GPU {number}: this machine has {count}" "видеокарты {number} нет: в этой машине их {count}";
    no_such_isa(name, all) "POLYFLY_ISA={name}: this machine has {all}" "POLYFLY_ISA={name}: у этой машины есть {all}";
    devices_disagree(list) "devices disagree:\n{list}" "устройства рисуют разное:\n{list}";
    too_many(count, what, limit) "the scene has {count} {what}; at most {limit} can be rendered"
        "в сцене {count} ({what}); не больше {limit}";
    bodies() "bodies" "тела";
    balls() "spheres" "шары";
    triangles() "triangles" "треугольники";
    edge_lights() "lights along the edges of bodies" "источники света вдоль рёбер тел";
    no_more_threads(why)
        "the system starts no more threads ({why}): give fewer --threads, end other programs, or raise the limits `ulimit -u` and `ulimit -v`; files that were written are complete"
        "система не запускает новых потоков ({why}): уменьшите --threads, закройте другие программы или увеличьте пределы `ulimit -u` и `ulimit -v`; записанное цело";

    // The denoiser.
    no_denoiser(why)
        "--denoise needs the library Open Image Denoise 2: {why}; set POLYFLY_OIDN to its folder (`pip install --target oidn pyoidn` makes one: `oidn`)"
        "для --denoise нужна библиотека Open Image Denoise 2: {why}; укажите её папку в POLYFLY_OIDN (`pip install --target oidn pyoidn` создаёт такую: `oidn`)";
    library_not_found(name) "{name} is not found" "{name} не найдена";
    library_not_in(folder, name) "{folder} does not have {name}" "в {folder} нет {name}";
    library_not_loaded(file, why) "{file} cannot be loaded: {why}" "{file} не загружается: {why}";
    library_differs(why) "it is another version: {why}" "у неё другая версия: {why}";
    library_has_no_cpu() "it makes no CPU device" "она не работает на процессоре";

    // Encoders.
    #[cfg_attr(feature = "h264", expect(dead_code, reason = "the feature is that encoder"))]
    no_built_in_encoder() "this program was built without its own encoder" "эта программа собрана без встроенного кодировщика";
    not_ffmpeg(name) "`{name}` does not run as ffmpeg" "`{name}` не запускается как ffmpeg";
    no_ffmpeg()
        "ffmpeg was not found: install it (Debian: apt-get install ffmpeg; anywhere: pip install imageio-ffmpeg), name one with --ffmpeg, or ask for a .y4m video, which needs none"
        "ffmpeg не найден: установите его (Debian: apt-get install ffmpeg; везде: pip install imageio-ffmpeg), укажите в --ffmpeg или попросите ролик .y4m, которому он не нужен";
    cannot_start(name, why) "cannot start {name}: {why}" "{name} не запускается: {why}";
    cannot_wait(why) "cannot wait for ffmpeg: {why}" "не дождаться ffmpeg: {why}";
    ffmpeg_failed(doing, status) "ffmpeg failed {doing} ({status})" "ffmpeg завершился с ошибкой: {doing} ({status})";
    ffmpeg_reported(doing) "ffmpeg reported an error {doing}" "ffmpeg сообщил об ошибке: {doing}";
    ffmpeg_took(taken, all, doing) "ffmpeg took {taken} of {all} frames {doing}" "ffmpeg взял кадров {taken} из {all}: {doing}";
    ffmpeg_stalled(seconds, doing) "ffmpeg made no progress for {seconds} s {doing}, and was killed"
        "ffmpeg не продвинулся за {seconds} с ({doing}) и остановлен";
    ffmpeg_kept_still(seconds, doing) "ffmpeg stalled for {seconds} s {doing}, and was ended" "ffmpeg молчал {seconds} с ({doing}) и остановлен";
    unsaved_changes_kept(scene, path) "the page's changes are not in {scene}; they are kept in {path}"
        "изменений со страницы нет в {scene}; они сохранены в {path}";
    unsaved_changes_lost(why) "the page's changes are in no file: {why}" "изменений со страницы нет ни в одном файле: {why}";
    ffmpeg_said() "ffmpeg said" "вывод ffmpeg";
    encoding_a_frame() "encoding a frame" "кодирование кадра";
    encoding_the_video() "encoding the video" "кодирование ролика";
    closing_the_video() "closing the video" "завершение ролика";
    checking_the_video() "checking the finished video" "проверка готового ролика";
    decoding(path) "decoding {path}" "чтение {path}";
    has_no_encoder(encoder, codec) "this ffmpeg has no encoder {encoder}, which --codec {codec} needs"
        "в этом ffmpeg нет кодировщика {encoder}, который нужен для --codec {codec}";
    trial_failed(why) "the trial encode of one frame failed: {why}" "пробное кодирование кадра не удалось: {why}";
    trial_of_hardware_failed(why, name) "the trial encode of one frame failed: {why}; {name} needs its chip and its driver"
        "пробное кодирование кадра не удалось: {why}; для {name} нужны своя микросхема и драйвер";
    first_frames_kept(why, frames, path) "{why}; its first {frames} frames are kept in {path}"
        "{why}; первые кадры ({frames}) сохранены в {path}";
    beginning_kept(path) "the beginning of the video is in {path}" "начало ролика в {path}";
    segment_deleted(file) "{file} was deleted: the same command with --resume makes it again"
        "{file} удалён: та же команда с --resume сделает его заново";
    all_is_kept(why, folder) "{why}; all is encoded and kept in {folder}: --resume joins it"
        "{why}; всё закодировано и лежит в {folder}: --resume соберёт ролик";
    some_is_kept(why, frames, folder) "{why}; {frames} frames are encoded and kept in {folder}: --resume continues with them"
        "{why}; закодированные кадры ({frames}) лежат в {folder}: --resume продолжит с них";
    encoder_gone() "the encoder has gone" "кодировщик завершился";
    built_in_says(why) "the built-in encoder: {why}" "встроенный кодировщик: {why}";
    video_holds(found, frames) "the finished video holds {found} of {frames} frames" "в готовом ролике кадров {found} из {frames}";
    misplaced_frame(frame) "frame {frame} of the finished video is not where it should be" "кадр {frame} готового ролика не на своём месте";
    odd_frame(frame) "frame {frame} of the finished video, as coded, is not that of its segment"
        "кадр {frame} готового ролика закодирован не так, как в своём отрезке";

    // Manifests, and what tokens cannot say.
    foreign_manifest(path, why) "{path} is not polyfly's ({why}); give the frames a folder of their own"
        "{path} не от этой программы ({why}); дайте кадрам отдельную папку";
    not_as_tokens(list) "this scene cannot be written as tokens:\n{list}" "эту сцену нельзя записать токенами:\n{list}";
    other_bodies(count) "it has {count}, and the tokens hold just three" "в ней {count}, а в токенах ровно три";
    body_of_its_own(body) "{body}: it has lamps, bars, an index of refraction or a motion of its own"
        "{body}: свои лампы, рёбра, показатель преломления или движение";
    scene_without_floor() "it has no floor" "в ней нет пола";
    floor_not_plain() "its floor is not plain and clear" "пол не из простого гладкого материала";
    floor_of_its_own() "its floor has an extent, a fading or a relief of its own" "у пола свои границы, затухание или рельеф";
    scene_has_fog() "it has fog" "в ней есть туман";
    other_objects() "it has spheres, ellipsoids, rectangles, meshes or particles" "в ней есть шары, эллипсоиды, прямоугольники, сетки или частицы";
    other_tracing() "its integrator, adaptive samples, shadows or cut-off are not the default"
        "интегратор, адаптивные лучи, тени или порог не те, что по умолчанию";
    other_film() "the keys of its film (exposure, bloom, tone and so on) are not those of `look = \"film\"` or \"plain\""
        "ключи плёнки (exposure, bloom, tone и прочие) не те, что у `look = \"film\"` или \"plain\"";
    other_camera() "its camera stands still, follows keys or an orbit, or has a lens, another shutter, projection or `fov_axis`"
        "камера стоит, идёт по ключам или по орбите, или у неё есть объектив, другой затвор, проекция или `fov_axis`";
    wide_lights() "it has lights with a radius" "у источников света есть радиус";
    other_lights(count) "it has {count} lights, and the tokens hold at most four" "источников света {count}, а в токенах не больше четырёх";
    other_light() "its ambient light, highlight or sky are not those of `look = \"film\"` or \"plain\""
        "фоновый свет, блик или небо не те, что у `look = \"film\"` или \"plain\"";
    values_change() "some of its values change over the clip" "некоторые значения меняются по ходу ролика";
    other_output() "it names a video, the bits of a channel, or a loop" "в ней названы ролик, число бит на канал или зацикливание";
    white_space(path) "the path `{path}` has white space in it" "в пути `{path}` есть пробелы";
    no_engine(name) "there is no `{name}` here" "программы `{name}` здесь нет";
    where_jobs_are_submitted() "run this where jobs are submitted, or leave --submit out and take the job there"
        "запустите это там, откуда отправляются задания, или уберите --submit и перенесите задание туда";
}
