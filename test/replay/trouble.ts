/** The situations that record-trouble.ts provokes. */
import type { Evidence } from './evidence.ts';

export const TROUBLE = {
  /** Its throttle was terminated, and the one that began with its next ask knows nothing of the first. */
  'asked-again': {
    page: [
      'local acquireSlot queued',
      'timer fired',
      'local acquireSlot queued',
      'signal granted',
      'completed fetchPage robots-read',
      'completed fetchPage attempt Success document',
      'completed',
    ],
  },
  full: {
    page: [
      'local acquireSlot full',
      'timer fired',
      'local acquireSlot',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['answered acquire queued', 'answered acquire full', 'update resume', 'signals granted'],
  },
  /** Terminated in line and started again: what its former life was to have reaches this one. */
  restarted: {
    page: [
      'local acquireSlot queued',
      'signal granted',
      'signals release',
      'signal granted',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['signals granted', 'signal release lost', 'signals granted'],
  },
  'robots-moved': {
    page: [
      'completed fetchPage robots-moved',
      'local acquireSlot',
      'completed fetchPage robots-read',
      'completed fetchPage attempt Success document',
      'completed',
    ],
  },
  'robots-hop-down': {
    page: [
      'completed fetchPage robots-moved',
      'local acquireSlot down',
      'local missRobots held',
      'timer fired',
      'completed fetchPage robots-read',
      'completed',
    ],
  },
  /** It led to a domain on hold. */
  'robots-hop-left': {
    page: [
      'completed fetchPage robots-moved',
      'local acquireSlot queued',
      'timer fired',
      'signals withdraw',
      'local missRobots held',
      'timer fired',
      'completed fetchPage robots-read',
      'completed',
    ],
  },
  /** The database was away. */
  'fallen-back': {
    page: ['local digestPage failed', 'scheduled digestPage', 'completed digestPage', 'completed'],
  },
  /** Its worker died in the middle of the fetch. */
  lost: {
    page: [
      'timed out fetchPage heartbeat',
      'signals release',
      'local acquireSlot',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['signal release lost', 'signal release started ok'],
  },
  poisoned: {
    page: [
      'local digestPage failed',
      'timer fired',
      'local parsePage failed',
      'timer fired',
      'local parsePage failed',
      'local persistPage',
      'completed',
    ],
  },
} satisfies Record<string, Evidence>;
