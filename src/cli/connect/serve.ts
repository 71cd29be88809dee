/** Stays up and works until it is told to stop: what `amble worker` and `amble up` have in common. */
import type { AmbleConfig } from '../../config/index.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { aborted } from '../interrupts.ts';
import { say } from '../render/terminal.ts';
import { type Session, withSession } from './session.ts';

/** `ready` runs once the worker does; what it returns is undone at the end. */
export async function serve(
  config: AmbleConfig,
  ready: (session: Session) => Promise<() => Promise<void>>,
): Promise<ExitCode> {
  return withSession(config, { worker: 'stderr', say }, async (session, interrupts) => {
    const undo = await ready(session);
    try {
      const stopped = aborted(interrupts.first);
      await (session.worker ? Promise.race([stopped, session.worker.failed]) : stopped);
      say('Stopping: waiting for the fetches under way. Ctrl-C again stops at once.');
      return EXIT.ok;
    } finally {
      await undo();
    }
  });
}
