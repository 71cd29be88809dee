/** Where the demo web's pages are: names and links made into URLs. */
import { DEMO_DOMAIN, DEMO_HOSTS } from './site.ts';

export function hostName(name: string): string {
  return `${name}.${DEMO_DOMAIN}`;
}

export function seedUrls(port: number): string[] {
  return DEMO_HOSTS.map(({ name }) => `http://${hostName(name)}:${port}/`);
}

/** Entries for `--resolve`: the names exist nowhere else. */
export function resolveEntries(address: string): string[] {
  return DEMO_HOSTS.map(({ name }) => `${hostName(name)}:${address}`);
}

/** A link as it stands in the data, made absolute. */
export function absoluteLink(link: string, from: string, port: number): string {
  const match = /^\/\/([^/]+)(\/.*)$/.exec(link);
  const [name, path] = match ? [match[1] ?? from, match[2] ?? '/'] : [from, link];
  return `http://${hostName(name)}:${port}${path}`;
}
