/** Certificates made by openssl, as an operator would make them. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** An authority and what it has signed, as files in a directory. */
export interface Authority {
  /** The file with its own certificate. */
  ca: string;
  /** For servers and clients alike; it is valid for localhost and 127.0.0.1 unless other names are given. */
  issue(name: string, names?: string): Promise<CertificateFiles>;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];

export async function createAuthority(directory: string): Promise<Authority> {
  await mkdir(directory, { recursive: true });
  const ca = join(directory, 'ca.pem');
  const caKey = join(directory, 'ca.key');
  await run('openssl', [
    ...[
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      caKey,
      '-out',
      ca,
      '-days',
      '2',
      '-subj',
      '/CN=test authority',
    ],
  ]);
  return {
    ca,
    async issue(name, names = 'DNS:localhost,IP:127.0.0.1') {
      const path = (suffix: string) => join(directory, `${name}.${suffix}`);
      const files = { cert: path('pem'), key: path('key') };
      await run('openssl', [
        ...['req', ...NEW_KEY, '-keyout', files.key, '-out', path('csr'), '-subj', `/CN=${name}`],
      ]);
      await writeFile(path('ext'), `subjectAltName=${names}\n`);
      await run('openssl', [
        ...['x509', '-req', '-in', path('csr'), '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2'],
        ...['-extfile', path('ext'), '-out', files.cert],
      ]);
      return files;
    },
  };
}
