// One instance of the renderer: calls its functions, and gives it the few things that it asks its system for.
// Runs in the page's workers, and in node for tests.
'use strict';

async function startEngine(module) {
  let memory;
  const view = () => new DataView(memory.buffer);
  const text = new TextDecoder();
  let line = '';
  // WASI's functions. There are no files: what is not here answers EBADF.
  const system = {
    clock_time_get(_clock, _precision, to) {
      view().setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    random_get(to, length) {
      crypto.getRandomValues(new Uint8Array(memory.buffer, to, length));
      return 0;
    },
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    sched_yield: () => 0,
    // What a panic says goes to the console.
    fd_write(_file, pieces, count, written) {
      let total = 0;
      for (let i = 0; i < count; ++i) {
        const [start, length] = [view().getUint32(pieces + 8 * i, true), view().getUint32(pieces + 8 * i + 4, true)];
        line += text.decode(new Uint8Array(memory.buffer, start, length));
        total += length;
      }
      view().setUint32(written, total, true);
      if (line.endsWith('\n')) {
        console.error(line.trimEnd());
        line = '';
      }
      return 0;
    },
    proc_exit(code) {
      throw new Error(`the renderer ended with code ${code}`);
    },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = system[name] ?? (() => 8);
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  exports._initialize?.();

  // Calls polyfly_NAME. `input` is its argument: text or bytes. Returns a copy of the bytes of the result.
  function bytes(name, input, ...numbers) {
    if (input !== undefined) {
      const argument = typeof input === 'string' ? new TextEncoder().encode(input) : input;
      const start = exports.polyfly_input(argument.length);
      new Uint8Array(memory.buffer, start, argument.length).set(argument);
    }
    const length = exports[`polyfly_${name}`](...numbers);
    return new Uint8Array(memory.buffer, exports.polyfly_output(), length).slice();
  }
  // The same for a result in JSON.
  function json(name, input, ...numbers) {
    return JSON.parse(text.decode(bytes(name, input, ...numbers)));
  }
  return { bytes, json };
}
