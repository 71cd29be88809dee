/** A name server on loopback that knows a few names (RFC 1035, one question per datagram). */
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';

const TYPES = { A: 1, AAAA: 28 } as const;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

export interface Silence {
  silentOn?: RegExp;
  silentFor?: keyof typeof TYPES;
}

/** Returns its address:port. */
export async function nameServer(
  names: Record<string, readonly string[]>,
  { silentOn, silentFor }: Silence = {},
): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    if (silentOn?.test(name) || (silentFor !== undefined && type === TYPES[silentFor])) return;
    const known = names[name];
    const records = (known ?? [])
      .filter((one) => type === (isIP(one) === 4 ? TYPES.A : TYPES.AAAA))
      .map((one) => record(type, Buffer.from(ipaddr.parse(one).toByteArray())));
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (known === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Its name is a pointer to that of the question. */
function record(type: number, address: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
}
