import { describe, expect, it } from 'vitest';
import { describeOrigin, parseOrigin } from '../../src/core/order.ts';

describe('the origin of an order', () => {
  it.each([undefined, null, {}])('is an unknown user of the Temporal CLI if it is %j', (raw) => {
    expect(parseOrigin(raw)).toEqual({ ok: true, origin: { channel: 'temporal', by: null, reason: null } });
  });

  it('is one line of text that can be stored', () => {
    const raw = { channel: 'api', by: ' Anna ', reason: 'too\u0000fast\n\nfor \ud800 them' };
    const origin = { channel: 'api', by: 'Anna', reason: 'too fast for them' };
    expect(parseOrigin(raw)).toEqual({ ok: true, origin });
  });

  it.each(['', '  \n'])('has no reason if that is %j', (reason) => {
    expect(parseOrigin({ reason })).toMatchObject({ origin: { reason: null } });
  });

  it.each([
    ['a text', 'because'],
    ['a list', ['because']],
    ['another channel', { channel: 'mail' }],
    ['a number as its reason', { reason: 7 }],
    ['a reason that is too long', { reason: 'x'.repeat(501) }],
    ['a name that is too long', { by: 'x'.repeat(101) }],
  ])('is refused with a sentence if it is or has %s', (_, raw) => {
    expect(parseOrigin(raw)).toEqual({
      ok: false,
      reason: expect.stringMatching(/: use \{.*\}, or leave it out\.$/),
    });
  });

  it('reads as a clause', () => {
    expect(describeOrigin({ channel: 'cli', by: 'anna', reason: 'The owner asked.' })).toBe(
      'by anna (cli): The owner asked',
    );
    expect(describeOrigin({ channel: 'temporal', by: null, reason: null })).toBe('by an operator (temporal)');
  });
});
