/** Keeps secrets out of logs and messages, whichever library put them into an error. */

const REDACTED = '[redacted]';

/** Variables of any program that hold a secret, by the usual names: PGPASSWORD, TEMPORAL_API_KEY, AWS_SECRET_ACCESS_KEY ... */
const SECRET_NAME = /PASSWORD|PASSWD|SECRET|TOKEN|API_KEY|PRIVATE_KEY|KEY_DATA|CREDENTIAL|AUTHORIZATION/i;

/** A shorter value may be a flag, such as `true`, and would be found in words that are not secret. */
const MIN_LENGTH = 6;

/** The password of a URL, of whichever program: `postgresql://user:password@host`. */
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@"]*):[^\s/?#"]+@/gi;

export type Redact = (text: string) => string;

/** Replaces the secrets, in plain text, in URLs and in JSON, and the password of every URL. */
export function createRedactor(secrets: readonly string[]): Redact {
  const written = secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  // The longest first: one may be part of another.
  const known = [...new Set(written)].sort((one, other) => other.length - one.length);
  return (text) =>
    known
      .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
      .replace(URL_PASSWORD, `$1:${REDACTED}@`);
}

/** Of one process: learns secrets when they become known. */
export class ProcessRedactor {
  private readonly known = new Set<string>();
  private readonly current: (() => string)[] = [];
  private replace: Redact = createRedactor([]);

  add(secrets: readonly string[]): void {
    const added = secrets.filter((secret) => !this.known.has(secret));
    if (added.length === 0) return;
    for (const secret of added) this.known.add(secret);
    this.replace = createRedactor([...this.known]);
  }

  /** Of a secret that may be replaced while the process runs: returns the one that is in use now. */
  addRotating(read: () => string): void {
    this.current.push(read);
  }

  redact(text: string): string {
    this.add(this.current.map((read) => read()));
    return this.replace(text);
  }
}

/** Of the environment: by the name of the variable, and passwords of URLs. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) ? [value] : passwordsOf(value),
  );
}

export function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password } = new URL(url);
  return password === '' ? [] : [password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
