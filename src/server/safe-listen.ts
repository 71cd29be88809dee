/** Whether a configuration lets others in without a token. Apart from the server, so that commands can check it before they load that. */
import { type AmbleConfig, BadInput } from '../config/index.ts';

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Throws BadInput if the configuration would let others than this machine in without a token. */
export function assertSafe({ listen, serverToken, serverHosts }: AmbleConfig): void {
  if (listen === null || serverToken !== null) return;
  if (isLoopback(listen.host) && serverHosts.length === 0) return;
  throw new BadInput(
    'A server that others than this machine can reach needs a token: set "serverToken" (AMBLE_SERVER_TOKEN) to a secret of at least 20 characters, such as the output of "openssl rand -hex 16".',
  );
}
