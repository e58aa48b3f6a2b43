// Answers the page's calls, one after the other. engine.js stands above it.
'use strict';

let engine;
onmessage = async ({ data: { id, kind, module, name, input, numbers = [] } }) => {
  try {
    if (kind === 'start') {
      engine = await startEngine(module);
      postMessage({ id });
    } else if (kind === 'json') {
      postMessage({ id, result: engine.json(name, input, ...numbers) });
    } else {
      const result = engine.bytes(name, input, ...numbers);
      postMessage({ id, result }, [result.buffer]);
    }
  } catch (error) {
    postMessage({ id, failure: String(error) });
  }
};
