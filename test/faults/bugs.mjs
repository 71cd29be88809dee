/** Loaded into a worker of the build (`node --import`): plants bugs in it. What it breaks is in bugs-hook.mjs and here. */
import { register } from 'node:module';

register('./bugs-hook.mjs', import.meta.url);

/** Of the worst kind: nobody is there to catch them. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'));
  setTimeout(() => {
    throw new Error('a stray error');
  });
});
