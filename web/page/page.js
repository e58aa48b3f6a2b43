// The page: a text, its faults, and its picture. A reader worker reads texts; the others render bands of one frame.
'use strict';

const $ = (id) => document.getElementById(id);
const source = $('source'), canvas = $('picture'), context = canvas.getContext('2d');
const WAIT_FOR_TYPING = 150, PATIENCE = 200, MOST_FAULTS = 20;

// A worker with an engine of its own. Calls are answered in order. One that fails gets a new worker, as its memory may be in
// any state.
class Engine {
  constructor(module) {
    const code = `${$('worker').textContent}`;
    this.address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    this.module = module;
    this.begin();
  }
  begin() {
    this.worker = new Worker(this.address);
    this.waiting = new Map();
    this.next = 0;
    this.worker.onmessage = ({ data: { id, result, failure } }) => {
      const call = this.waiting.get(id);
      this.waiting.delete(id);
      if (failure) {
        if (id > 0) this.restart();
        call.reject(new Error(failure));
      } else {
        call.resolve(result);
      }
    };
    this.worker.onerror = () => this.waiting.has(0) || this.restart();
    // Without an engine, the next call fails and says why.
    this.send({ kind: 'start', module: this.module }).catch(() => {});
  }
  get isBusy() {
    return this.waiting.size > 0;
  }
  send(message) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ...message });
    });
  }
  json(name, input, ...numbers) {
    return this.send({ kind: 'json', name, input, numbers }).then((result) => {
      if (result.error) throw new Error(result.error);
      return result;
    });
  }
  bytes(name, input, ...numbers) {
    return this.send({ kind: 'bytes', name, input, numbers });
  }
  // Ends what it is doing.
  restart() {
    const waiting = this.waiting;
    this.worker.terminate();
    this.begin();
    for (const call of waiting.values()) call.reject(new Abandoned());
  }
}

// A picture that is not wanted any more.
class Abandoned extends Error {}

// Renders one frame by several engines.
class Studio {
  constructor(module, count) {
    this.engines = Array.from({ length: count }, () => new Engine(module));
    this.wanted = 0;
  }
  // Renders levels of quality one after the other, and abandons what is being rendered.
  async show(levels, seen) {
    const mine = ++this.wanted, begun = performance.now();
    // A short step ends by itself; a long one is cut off.
    while (this.engines.some((engine) => engine.isBusy) && performance.now() - begun < PATIENCE) {
      await new Promise((end) => setTimeout(end, 5));
      this.check(mine);
    }
    this.engines.filter((engine) => engine.isBusy).forEach((engine) => engine.restart());
    return this.render(levels, seen, mine);
  }
  check(mine) {
    if (mine !== this.wanted) throw new Abandoned();
  }
  async render(levels, seen, mine) {
    for (const [i, level] of levels.entries()) {
      const isLast = i === levels.length - 1;
      const { text, width, height, samples, frame } = level;
      const [main] = this.engines;
      const opened = await Promise.all(this.engines.map((engine) => engine.json('open', text, width, height, samples, frame)));
      this.check(mine);
      let round = opened[0];
      for (;;) {
        let next = 0, added = 0;
        const work = async (engine) => {
          while (next < round.steps.length) {
            const step = next++;
            const bytes = await engine.bytes('render', undefined, step);
            this.check(mine);
            if (round.pixels) seen.rows(level, round.steps[step], bytes);
            await main.json('add', bytes, step);
            seen.progress(isLast, ++added / round.steps.length);
          }
        };
        await Promise.all(this.engines.map(work));
        this.check(mine);
        const end = await main.json('finish');
        if (!end.steps) {
          const pixels = await main.bytes('pixels');
          this.check(mine);
          seen.picture(level, pixels, isLast ? end.hash : null);
          break;
        }
        await Promise.all(this.engines.slice(1).map((engine) => engine.json('skip_round')));
        round = end;
      }
    }
  }
  png() {
    return this.engines[0].bytes('png');
  }
}

// --- Links: the scene is in the fragment, packed ---

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function packed(value) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream('deflate-raw'));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return letters.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const decoded = (letters) => Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));

async function unpacked(text) {
  const bytes = decoded(text.replaceAll('-', '+').replaceAll('_', '/'));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))));
}

// --- The text and its faults ---

let reader, studio, scenes = [], scene = null, faults = [];

function drawGutter() {
  const lines = source.value.split('\n').length;
  const gutter = $('gutter');
  while (gutter.childElementCount > lines + 1) gutter.lastChild.remove();
  while (gutter.childElementCount < lines + 1) gutter.append(document.createElement('div'));
  const marked = new Map(faults.toReversed().map((fault) => [fault.line, fault]));
  for (const [i, cell] of [...gutter.children].entries()) {
    const fault = marked.get(i + 1);
    // The last cell leaves room for the scroll bar of the text.
    cell.textContent = i < lines ? i + 1 : '\u00a0';
    cell.className = fault?.kind ?? '';
    cell.title = fault ? message(fault) : '';
    cell.onclick = fault ? () => goTo(fault) : null;
  }
  gutter.scrollTop = source.scrollTop;
}

const message = (fault) => [fault.what, fault.expected, fault.help].filter(Boolean).join('\n');

function goTo(fault) {
  source.focus();
  source.setSelectionRange(fault.start, Math.max(fault.end, fault.start));
  source.scrollTop = (fault.line - 4) * 20;
}

function drawFaults() {
  const rows = faults.slice(0, MOST_FAULTS).map((fault) => {
    const row = document.createElement('li'), button = document.createElement('button');
    row.className = fault.kind;
    button.type = 'button';
    button.onclick = () => goTo(fault);
    const part = (kind, text) => {
      const span = document.createElement('span');
      span.className = kind;
      span.textContent = text;
      button.append(span);
    };
    part('where', `${fault.kind === 'warning' ? 'Warning, line' : 'Line'} ${fault.line}, column ${fault.column}`);
    part('what', `${fault.what}${fault.expected ? `: ${fault.expected}` : ''}`);
    if (fault.help) part('help', `help: ${fault.help}`);
    row.append(button);
    return row;
  });
  const more = document.createElement('li');
  more.className = 'more';
  more.textContent = `and ${faults.length - MOST_FAULTS} more`;
  $('faults').replaceChildren(...rows, ...(faults.length > MOST_FAULTS ? [more] : []));
}

async function read() {
  const text = source.value;
  const parsed = await reader.json('read', text);
  if (text !== source.value) return;
  const kind = (list, kind) => list.map((fault) => ({ ...fault, kind }));
  faults = [...kind(parsed.problems, 'fault'), ...kind(parsed.warnings, 'warning')];
  drawGutter();
  drawFaults();
  source.setAttribute('aria-invalid', parsed.problems.length > 0);
  if (parsed.problems.length > 0) {
    scene = null;
    studio.wanted++;
    stop();
    canvas.classList.add('old');
    progress(false);
    $('proof').hidden = true;
    $('save').disabled = true;
    const count = parsed.problems.length;
    say(count === 1 ? 'The scene has a fault.' : `The scene has ${count} faults.`);
    return;
  }
  scene = { ...parsed, text };
  $('when').max = scene.frames - 1;
  $('time').hidden = scene.frames === 1;
  sayTime();
  render();
}

// --- The picture ---

const say = (text) => ($('status').textContent = text);

function progress(isBusy, share = 0) {
  $('progress').classList.toggle('busy', isBusy);
  $('progress').value = share;
}

function sayTime() {
  const frame = Number($('when').value);
  $('moment').textContent = `${(frame / scene.fps).toFixed(2)} s, frame ${frame} of ${scene.frames}`;
}

function wantedSize() {
  const width = Number($('size').value);
  if (width === 0 || width === scene.width) return [scene.width, scene.height];
  return [width, Math.max(1, Math.round((width * scene.height) / scene.width))];
}

// A draft at half the size first, then more and more samples; the last level has those of the scene.
function levels(isPlaying) {
  const [width, height] = wantedSize(), frame = Number($('when').value), { text } = scene;
  const half = { text, frame, width: Math.ceil(width / 2), height: Math.ceil(height / 2), samples: 1 };
  if (isPlaying) return [half];
  const sides = [1, 4].filter((side) => side * side * 2 <= scene.samples && (side === 1 || scene.random));
  const whole = { text, frame, width, height };
  return [half, ...sides.map((samples) => ({ ...whole, samples })), { ...whole, samples: 0 }];
}

let finished = null;

const seen = {
  start() {
    const [width, height] = wantedSize();
    if (canvas.width !== width || canvas.height !== height) {
      // The last picture stays until there is another one.
      const old = document.createElement('canvas');
      [old.width, old.height] = [canvas.width, canvas.height];
      old.getContext('2d').drawImage(canvas, 0, 0);
      [canvas.width, canvas.height] = [width, height];
      context.drawImage(old, 0, 0, width, height);
    }
  },
  rows({ width, height }, [from, to], pixels) {
    if (width !== canvas.width || height !== canvas.height) return;
    canvas.classList.remove('old');
    context.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, to - from), 0, from);
  },
  picture({ width, height }, pixels, hash) {
    const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
    canvas.classList.remove('old');
    if (width === canvas.width && height === canvas.height) {
      context.putImageData(image, 0, 0);
    } else {
      const small = document.createElement('canvas');
      [small.width, small.height] = [width, height];
      small.getContext('2d').putImageData(image, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.drawImage(small, 0, 0, canvas.width, canvas.height);
    }
    $('save').disabled = false;
    finished = hash;
  },
  progress: (isLast, share) => progress(isLast, share),
};

// The program's command for a frame.
function command(frame, width, height) {
  const name = scenes.find(({ text }) => text === scene.text)?.file ?? (/^\s*[#[]/.test(scene.text) ? 'scene.toml' : 'scene.txt');
  return `polyfly ${name} --frames ${frame} --size ${width}x${height} --hash`;
}

// The expected sum, and the frame that a line of a manifest names.
function expected() {
  const [, frame, hash] = /(?:"(\d+)"\s*:\s*")?\b([\da-f]{64})\b/i.exec($('expected').value) ?? [];
  return { frame, hash: hash?.toLowerCase() };
}

function compare() {
  const { hash } = expected();
  $('verdict').textContent = !hash || !finished ? '' : hash === finished ? 'equal' : 'not equal';
}

async function render() {
  if (!scene || player) return;
  const [width, height] = wantedSize(), frame = Number($('when').value), begun = performance.now();
  $('proof').hidden = true;
  finished = null;
  compare();
  seen.start();
  try {
    const drawn = { ...seen, picture: (...it) => (seen.picture(...it), said()) };
    const said = () => {
      const seconds = ((performance.now() - begun) / 1000).toFixed(2);
      say(finished ? `${width} x ${height}, ${scene.samples} samples a pixel, ${seconds} s` : `Draft after ${seconds} s, refining ...`);
    };
    await studio.show(levels(false), drawn);
    progress(false);
    $('hash').textContent = finished;
    compare();
    $('command').textContent = command(frame, width, height);
    $('proof').hidden = false;
  } catch (error) {
    failed(error);
  }
}

function failed(error) {
  if (error instanceof Abandoned) return;
  progress(false);
  canvas.classList.add('old');
  say(`It cannot be rendered: ${error.message}`);
}

// --- Playing ---

let player = null;

async function play() {
  player = { from: Number($('when').value), since: performance.now() };
  const mine = player;
  $('play').textContent = 'Pause';
  $('play').setAttribute('aria-pressed', 'true');
  $('proof').hidden = true;
  seen.start();
  let shown = 0;
  while (player === mine && scene) {
    const passed = (performance.now() - mine.since) / 1000;
    const frame = Math.floor(mine.from + passed * scene.fps) % scene.frames;
    if (shown === 0 || frame !== Number($('when').value)) {
      $('when').value = frame;
      sayTime();
      try {
        await studio.show(levels(true), { ...seen, progress() {} });
        say(`Draft, ${(++shown / ((performance.now() - mine.since) / 1000)).toFixed(1)} pictures a second`);
      } catch (error) {
        if (player === mine) stop();
        return failed(error);
      }
    }
    await new Promise(requestAnimationFrame);
  }
}

function stop() {
  player = null;
  $('play').textContent = 'Play';
  $('play').setAttribute('aria-pressed', 'false');
}

// --- What the user does ---

let typing;
function changed() {
  $('proof').hidden = true;
  drawGutter();
  clearTimeout(typing);
  typing = setTimeout(() => read().catch(failed), WAIT_FOR_TYPING);
}

function use(text, frame = 0) {
  stop();
  source.value = text;
  source.scrollTop = 0;
  $('when').max = Math.max(frame, 0);
  $('when').value = frame;
  changed();
}

function about() {
  const chosen = scenes.find(({ text }) => text === source.value);
  $('about').textContent = chosen?.about ?? 'Your own scene, in TOML or in the tokens of the coursework.';
  $('scenes').value = chosen ? `${chosen.kind} ${chosen.name}` : '';
}

async function useLink() {
  if (!location.hash.startsWith('#s=')) return false;
  try {
    const [link, hash] = location.hash.slice(3).split('&hash=');
    const { text, frame, size } = await unpacked(link);
    $('expected').value = hash ?? '';
    if (size !== undefined) $('size').value = String(size);
    use(String(text), Number(frame) || 0);
    about();
    return true;
  } catch {
    say('The link is cut short or damaged.');
    return false;
  }
}

async function copyLink() {
  const value = { text: source.value, frame: Number($('when').value), size: Number($('size').value) };
  history.replaceState(null, '', `#s=${await packed(value)}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $('link').textContent = 'Copied';
  } catch {
    // Without leave to copy, the address bar has it.
    $('link').textContent = 'It is the address';
  }
  setTimeout(() => ($('link').textContent = 'Copy link'), 2000);
}

async function save() {
  const file = finished ? new Blob([await studio.png()], { type: 'image/png' }) : await new Promise((end) => canvas.toBlob(end));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `polyfly-${$('when').value}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function listScenes() {
  const group = (kind, label) => {
    const list = document.createElement('optgroup');
    list.label = label;
    for (const { name } of scenes.filter((it) => it.kind === kind)) list.append(new Option(name, `${kind} ${name}`));
    return list;
  };
  const own = new Option('your own', '');
  own.hidden = true;
  $('scenes').replaceChildren(own, group('template', 'Templates'), group('sample', 'Samples'));
}

async function start() {
  const zipped = decoded($('wasm').textContent.trim());
  const module = await WebAssembly.compile(await through(zipped, new DecompressionStream('gzip')));
  reader = new Engine(module);
  const cores = navigator.hardwareConcurrency || 1;
  studio = new Studio(module, Math.min(cores, 8));
  // Many cores have the time for a larger picture.
  $('size').value = cores >= 8 ? '640' : cores >= 4 ? '480' : '320';
  scenes = await reader.json('scenes');
  listScenes();
  if (!(await useLink())) use(scenes[0].text);
  about();

  source.addEventListener('input', () => (about(), changed()));
  source.addEventListener('scroll', () => ($('gutter').scrollTop = source.scrollTop));
  $('scenes').addEventListener('change', () => {
    const chosen = scenes.find(({ kind, name }) => `${kind} ${name}` === $('scenes').value);
    history.replaceState(null, '', location.pathname + location.search);
    use(chosen.text);
    about();
  });
  $('size').addEventListener('change', render);
  $('when').addEventListener('input', () => {
    stop();
    if (scene) sayTime();
    render();
  });
  $('play').addEventListener('click', () => {
    if (!player) return scene && play();
    stop();
    render();
  });
  $('expected').addEventListener('input', () => {
    const { frame, hash } = expected();
    if (!hash || frame === undefined) return compare();
    // A manifest's frames have the scene's own size.
    $('size').value = '0';
    $('when').value = frame;
    stop();
    if (scene) sayTime();
    render();
  });
  $('link').addEventListener('click', copyLink);
  $('save').addEventListener('click', save);
  addEventListener('hashchange', useLink);
}

start().catch((error) => say(`The page cannot start: ${error.message}`));
