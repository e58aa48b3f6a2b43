//! The part of the table about files that change, about the content of files of particles and meshes, and about compared pictures.

use super::Language;
use std::fmt::Display;

messages! {
    // Files that change during a run.
    file_changes(kind) "the {kind} has changed since the run began" "{kind}: файл изменился после начала рендера";
    put_the_old_file_back() "put the old file back and give --resume, or render all frames again with --overwrite"
        "верните прежний файл и добавьте --resume или пересчитайте все кадры с --overwrite";

    // Meshes.
    too_many_triangles(max) "with this mesh the scene has more than {max} triangles" "с этой сеткой в сцене больше {max} треугольников";
    smaller_meshes() "give smaller ones, or raise --limit-memory" "возьмите сетки поменьше или увеличьте --limit-memory";

    // Particles.
    at_byte(byte) "byte {byte}" "байт {byte}";
    in_line(line) "line {line}" "строка {line}";
    coordinate() "coordinate" "координата";
    radius() "radius" "радиус";
    bad_particle(place, number, what, value, expected) "{place}: particle {number} has the {what} {value}; expected {expected}"
        "{place}: у частицы {number} {what} {value}; ожидалось: {expected}";
    no_particles() "it holds no particles" "в файле нет частиц";
    no_value_to_color_by(name) "it holds no {name} to color by; give color_by = \"nothing\" or \"radius\""
        "в файле нет величины {name}, которая задаёт цвет; напишите color_by = \"nothing\" или \"radius\"";
    expected_text(line, column, byte) "line {line}, column {column}: byte {byte} is not text in UTF-8"
        "строка {line}, столбец {column}: байт {byte} не похож на текст в UTF-8";
    expected_columns(line) "line {line}: expected columns x, y, z and r (or radius)"
        "строка {line}: ожидались столбцы x, y, z и r (или radius)";
    no_such_column(line, name, column) "line {line}: it has no `{name}` (column {column})"
        "строка {line}: в ней нет `{name}` (столбец {column})";
    no_number_in_column(line, column, text, name) "line {line}, column {column}: `{text}` is not a number for `{name}`"
        "строка {line}, столбец {column}: `{text}` не число для `{name}`";
    no_header(length) "it ends at byte {length}; expected at least 104 bytes of header"
        "файл кончается на байте {length}; в заголовке не меньше 104 байт";
    no_sphere_file()
        "byte 0: expected the number of dimensions, 3, or a version of 0.5 to 100: this is not a file of the `sphere` code; tables end in .csv, .xyzr or .txt"
        "байт 0: ожидалось число измерений, 3, или версия от 0.5 до 100: это не файл программы `sphere`; у таблиц расширение .csv, .xyzr или .txt";
    bad_count_of_particles(at, count, max) "byte {at}: {count} particles; expected 1 to {max}"
        "байт {at}: частиц {count}; ожидалось от 1 до {max}";
    no_count_of_particles(length, at) "it ends at byte {length}; expected the number of particles at byte {at}"
        "файл кончается на байте {length}; на байте {at} ожидалось число частиц";
    bad_interleaved_length(length, count, expected)
        "it ends at byte {length}; with {count} particles the interleaved layout ends at byte {expected} (or, by its variants, elsewhere): it is cut short, or no file of particles"
        "файл кончается на байте {length}; если частиц {count}, чередующаяся раскладка кончается на байте {expected} (её варианты на другом): он обрезан, или это не файл частиц";
    three_dimensions(found) "byte 8: expected 3 dimensions, found {found}" "байт 8: ожидались 3 измерения, а здесь {found}";
    too_short_for_version(length, count, version, needed)
        "it ends at byte {length}; {count} particles of version {version} need {needed} and more"
        "файл кончается на байте {length}; если частиц {count}, в версии {version} нужно не меньше {needed}";
    particles_walls_bonds(particles, walls, bonds) "{particles} particles, {walls} walls and {bonds} bonds"
        "частиц {particles}, стен {walls}, связей {bonds}";
    bad_length_of_version(length, parts, version, expected)
        "it ends at byte {length}; with {parts} a file of version {version} ends at byte {expected}: it is cut short, or holds a fluid, which is not read"
        "файл кончается на байте {length}; если в нём {parts}, файл версии {version} кончается на байте {expected}: он обрезан, или в нём жидкость, которая не читается";
    no_time_steps(frames) "the file does not exist; frames without a file: {frames} (--frames selects others)"
        "файла нет; кадры без файла: {frames} (другие выбирает --frames)";
    values_unknown(unknown, all, by) "{unknown} of {all} particles have no number for {by}: they are drawn gray"
        "у {unknown} из {all} частиц нет числа для {by}: они серые";

    // Compared pictures.
    other_size(first, name, second) "it has {first} pixels, and {name} has {second} pixels: only pictures of one size are compared"
        "в ней {first} пикселей, а в {name} {second}: сравниваются картинки одного размера";
    difference_of_frame(path, frame, factor) "{path}: the difference of frame {frame}, amplified by {factor}"
        "{path}: разница кадра {frame}, усиление {factor}";
    difference_of_pictures(path, factor) "{path}: the difference, amplified by {factor}" "{path}: разница, усиление {factor}";
    pairs_of(count, first, second) "{count} of {first} and {second}" "{first} и {second}: {count}";
    compared_pictures(first, second) "{first} and {second}" "{first} и {second}";
    compared_size() "size" "размер";
    largest_difference() "largest difference" "наибольшая разница";
    mean_difference() "mean difference" "средняя разница";
    pixels_that_differ() "pixels that differ" "отличных пикселей";
    first_is_at(x, y) "; the first is ({x}, {y})" "; первый ({x}, {y})";
    infinite() "infinite" "бесконечность";
    first_that_differs() "first that differs" "первый отличный";
    worst() "worst" "наибольшее отличие";
    by_more_than(limit) " by more than {limit}" " больше чем на {limit}";
    frame_of(number) "frame {number}" "кадр {number}";
    frames_on_one_side(name, frames) "only {name} has frames {frames}" "кадры {frames} есть только в {name}";
    pictures_differ(limit, largest) "the pictures differ{limit}: the largest difference is {largest}"
        "картинки различаются{limit}: наибольшая разница {largest}";
    frames_differ(count, all, limit, first) "{count} of {all} frames differ{limit}; the first is frame {first}"
        "кадры различаются{limit}: {count} из {all}; первый из них {first}";
    better_offset(offset) "the frames agree better with `--offset {offset}`: does one side count from 1?"
        "с `--offset {offset}` кадры совпадают лучше: может быть, одна из сторон считает с 1?";
    comparison_heads() " frame  largest       mean     pixels     PSNR       SSIM       FLIP"
        "  кадр наиб.разн    средняя   пикселей     PSNR       SSIM       FLIP";
}
