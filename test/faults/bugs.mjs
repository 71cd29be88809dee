/** Loaded into a worker of the build (`node --import`) to plant bugs in it: those of bugs-hook.mjs, and the two below. */
import { register } from 'node:module';

register('./bugs-hook.mjs', import.meta.url);

/** Errors that nothing catches. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'));
  setTimeout(() => {
    throw new Error('a stray error');
  });
});
