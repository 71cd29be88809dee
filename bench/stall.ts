/** What watch-stalls.ts reports. */
import { z } from 'zod';

export const Stall = z.object({
  /** The smaller of elapsed time and CPU time of the main thread: leaves out other load on this machine. */
  cpuMs: z.number(),
  elapsedMs: z.number(),
});
export type Stall = z.infer<typeof Stall>;
