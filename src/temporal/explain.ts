/** One sentence for each way to be kept out of a Temporal server, which names the setting to change. */
import { codeOf, messageOf } from '../core/errors.ts';
import type { TemporalTarget } from './access.ts';

/** "Temporal at localhost:7233, namespace default, profile prod". */
export function describeTemporal({ address, namespace, access }: TemporalTarget): string {
  const profile = access?.profile ? `, profile ${access.profile}` : '';
  return `Temporal at ${address}, namespace ${namespace}${profile}`;
}

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** `error`: null if what answers is not HTTP/2, or only closes the connection. Returns null if nothing answers there. */
export function explainConnectionError(
  error: unknown,
  { address, access }: Pick<TemporalTarget, 'address' | 'access'>,
): string | null {
  const server = `The Temporal server at ${address}`;
  const code = String(codeOf(error) ?? '');
  if (UNTRUSTED.has(code))
    return `${server} has a certificate of an authority that is not trusted here (${code}): set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the certificate of that authority.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `${server} has a certificate that is not valid now (${code}): renew it, or check the clock of this machine.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${server} has a certificate for another name: set TEMPORAL_TLS_SERVER_NAME to the name in it, or correct TEMPORAL_ADDRESS.`;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH')
    return 'TEMPORAL_TLS_CLIENT_KEY_PATH is not the key of the certificate in TEMPORAL_TLS_CLIENT_CERT_PATH.';
  if (/^ERR_OSSL_|^ERR_CRYPTO/.test(code))
    return `TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH or TEMPORAL_TLS_SERVER_CA_CERT_PATH is not a PEM file (${messageOf(error)}).`;
  // Node gives a failed write the code EPROTO, and keeps OpenSSL's reason in the message.
  const isTlsError = code.startsWith('ERR_SSL_') || code === 'EPROTO';
  if (isTlsError && /alert/i.test(`${code} ${messageOf(error)}`))
    return `${server} refuses our client certificate (${code}): set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to ones that it accepts.`;
  if (isTlsError)
    return `${server} does not speak TLS (${code}): unset TEMPORAL_API_KEY and the TEMPORAL_TLS variables, set TEMPORAL_TLS=false, or correct TEMPORAL_ADDRESS.`;
  const isEncrypted = access !== undefined && access.tls !== false;
  if (isEncrypted && (error === null || code === 'ECONNRESET'))
    return `${server} closes the connection: it may require a client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH).`;
  if (!isEncrypted && error === null)
    return `${server} does not answer without TLS: set TEMPORAL_TLS=true if it requires TLS, or correct TEMPORAL_ADDRESS.`;
  return null;
}

const GRPC = { notFound: 5, permissionDenied: 7, unauthenticated: 16 };

/** By the code of gRPC. null: the server did not refuse anything. */
export function explainRefusal(
  code: string | number | null,
  { address, namespace, access }: TemporalTarget,
): string | null {
  if (code === GRPC.notFound)
    return `The Temporal server at ${address} has no namespace "${namespace}". Create it with \`temporal operator namespace create ${namespace}\`, or set TEMPORAL_NAMESPACE to an existing one.`;
  if (code !== GRPC.permissionDenied && code !== GRPC.unauthenticated) return null;
  return access?.apiKey
    ? `The Temporal server at ${address} refuses the API key for namespace "${namespace}": check TEMPORAL_API_KEY (or api_key in temporal.toml, or the file in "temporalApiKeyFile") and TEMPORAL_NAMESPACE.`
    : `The Temporal server at ${address} does not let us use namespace "${namespace}": set TEMPORAL_API_KEY, or a client certificate with TEMPORAL_TLS_CLIENT_CERT_PATH, and check TEMPORAL_NAMESPACE.`;
}
