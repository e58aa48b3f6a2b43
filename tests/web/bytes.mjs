// Frames of WebAssembly against those of the program. Usage: node tests/web/bytes.mjs WASM POLYFLY
//
// Every template and sample that needs no file is rendered small, and a few scenes of other kinds in steps that two
// instances share. All have the program's bytes. The last line tells how fast both are.

import { execFileSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Older versions of node do not have it by that name.
globalThis.crypto ??= webcrypto;
const [wasm, polyfly] = process.argv.slice(2);
const page = new URL('../../web/page/', import.meta.url);
const startEngine = new Function(`${readFileSync(new URL('engine.js', page), 'utf8')}; return startEngine;`)();
const module = await WebAssembly.compile(readFileSync(wasm));
const engines = [await startEngine(module), await startEngine(module)];
const folder = mkdtempSync(join(tmpdir(), 'polyfly-web-'));
const faults = [];
const expect = (condition, words) => condition || faults.push(words);

// A frame of the page: instances take turns, and the first one makes the picture.
function frame(text, width, height, samples, number, sharing = engines.slice(0, 1)) {
  const opened = sharing.map((engine) => engine.json('open', text, width, height, samples, number));
  let round = opened[0];
  if (round.error) throw new Error(round.error);
  for (;;) {
    round.steps.forEach((_, step) => {
      const bytes = sharing[step % sharing.length].bytes('render', undefined, step);
      const { error } = sharing[0].json('add', bytes, step);
      if (error) throw new Error(error);
    });
    const end = sharing[0].json('finish');
    if (!end.steps) return end;
    const skipped = sharing.slice(1).map((engine) => engine.json('skip_round'));
    expect(skipped.every((round) => JSON.stringify(round) === JSON.stringify(end)), 'instances differ in their next round');
    round = end;
  }
}

// The same frame of the program.
function program(text, ending, flags, environment = {}) {
  const file = join(folder, `scene${ending}`);
  writeFileSync(file, text);
  const sums = execFileSync(polyfly, [file, '--cpu', '--quiet', '--hash', ...flags.map(String)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return String(sums).split(' ')[0];
}

try {
  const scenes = engines[0].json('scenes');
  expect(scenes.length > 20, `only ${scenes.length} scenes need no file`);
  for (const { kind, name, file, text } of scenes) {
    const read = engines[0].json('read', text);
    expect(read.problems.length === 0, `${kind} ${name} has faults`);
    const [number, width, height] = [Math.floor(read.frames / 3), 52, 36];
    // Path tracing with all its samples takes seconds; one side of 2 has four of them.
    const samples = read.samples > 16 ? 2 : 0;
    const flags = ['--frames', number, '--size', `${width}x${height}`, ...(samples ? ['--samples', samples] : [])];
    const [here, there] = [frame(text, width, height, samples, number).hash, program(text, file.slice(file.indexOf('.')), flags)];
    expect(here === there, `${kind} ${name}: ${here} and not ${there}`);
  }
  console.log(`${scenes.length} scenes: frames of WebAssembly have the program's bytes`);

  // What the samples do not use: a stop rule, adaptive samples, a shutter, a transparent sky, an automatic exposure.
  const cube = scenes.find(({ kind, name }) => kind === 'sample' && name === 'cube').text;
  const more = {
    'stop rule': '[render]\nintegrator = "path"\nsamples = 64\nnoise = 4.0\n',
    'adaptive samples': '[render]\nintegrator = "path"\nsamples = "16..32"\n',
    shutter: '[render]\nsamples = 3\n[camera]\nshutter = 0.5\n',
    'transparent sky': '[sky]\ntransparent = true\n',
    'automatic exposure': '[film]\nexposure = "auto"\nbloom = 0.3\n',
  };
  const body = '[[body]]\nsolid = "hexahedron"\nlamps = 3\nreflection = 0.4\n[[light]]\nposition = [3, 4, 5]\n[output]\nframes = 10\n';
  for (const [name, tables] of Object.entries(more)) {
    const read = engines[0].json('read', tables + body);
    expect(read.problems.length === 0, `${name}: ${JSON.stringify(read.problems)}`);
    if (read.problems.length > 0) continue;
    const [here, there] = [frame(tables + body, 68, 44, 0, 4, engines).hash, program(tables + body, '.toml', ['--frames', 4, '--size', '68x44'])];
    expect(here === there, `${name}: ${here} and not ${there}`);
  }

  // Faults have their places, and a missing file is one.
  const broken = engines[0].json('read', '# ä\n[output]\nframes = "many"\n').problems[0];
  expect(broken.line === 3 && broken.column === 10 && broken.start === 22, `the fault's place is ${JSON.stringify(broken)}`);
  const missing = engines[0].json('read', '[sky]\nimage = "dawn.hdr"\n' + body).problems[0];
  expect(missing?.line === 2 && missing.what.includes('dawn.hdr'), `a file that cannot be read is ${JSON.stringify(missing)}`);

  // Speed: the same frame on one core, here, and by the program's set with as many lanes.
  const [width, height] = [320, 240];
  frame(cube, width, height, 1, 0);
  const timed = (work) => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  const counts = [1, 2, 3].map((number) => timed(() => frame(cube, width, height, 2, number)));
  const bench = (frames) =>
    timed(() => program(cube, '.toml', ['--frames', `1-${frames}`, '--size', `${width}x${height}`, '--samples', 2, '--threads', 1], { POLYFLY_ISA: 'baseline' }));
  // The program's own start is not counted.
  const there = (bench(7) - bench(1)) / 6;
  const here = Math.min(...counts);
  console.log(`cube.toml at ${width}x${height}, 2x2 samples, one core: ${here.toFixed(0)} ms a frame as WebAssembly, ${there.toFixed(0)} ms by the program's baseline set`);
} finally {
  rmSync(folder, { recursive: true });
}
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
