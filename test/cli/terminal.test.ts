import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { renderCrawl, renderCrawls, renderSummary } from '../../src/cli/render/crawl.ts';
import { renderDomain, renderDomains } from '../../src/cli/render/domain.ts';
import { renderHealth } from '../../src/cli/render/health.ts';
import {
  renderExcludePreview,
  renderOrders,
  renderRetryPreview,
  renderStop,
} from '../../src/cli/render/orders.ts';
import { renderPageReport } from '../../src/cli/render/page.ts';
import { createDisplay } from '../../src/cli/render/progress-display.ts';
import { renderProof } from '../../src/cli/render/proof.ts';
import { renderTable } from '../../src/cli/render/text.ts';
import { writeErr, writeOut, writeOutAll } from '../../src/cli/terminal.ts';
import type { RecordedOrder } from '../../src/storage/orders.ts';
import { newThrottle, toStoredDomain, view } from '../../src/throttle/index.ts';
import { readSources } from '../architecture/sources.ts';
import { CONFIG } from '../throttle/support.ts';
import { anAttempt, aPage, aRequest, RUNNING } from './support.ts';

const NOW = new Date(2026, 0, 31, 14, 0, 0);

/** What a site may put into a title, a type, a reason or a URL to give orders to a terminal. */
const HOSTILE = [
  '\x1b]52;c;ZXZpbA==\x07', // OSC: writes the clipboard
  '\x1b[2J\x1b[31m', // CSI: clears the screen, and turns it red
  '\x9b2J\x9d0;title\x9c', // the same in C1
  '\r\n\b\x00\x7f\t\u0085', // C0, DEL, NEL
  '\u202eevil\u202c\u2066x\u2069\u200e\u200f\u061c', // changes of direction
  '\u2028\u2029', // line separators
].join('');

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

let written = '';

beforeEach(() => {
  written = '';
  const record = (text: string | Uint8Array): boolean => {
    written += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(record);
  vi.spyOn(process.stderr, 'write').mockImplementation(record);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** What remains apart from the line breaks between the lines. */
function withoutLineBreaks(lines: number): string {
  const parts = written.split('\n');
  expect(parts).toHaveLength(lines + 1);
  return parts.join('');
}

describe('a line goes out with every control character escaped', () => {
  test.each([
    ['standard output', writeOut],
    ['standard error', writeErr],
  ])('to %s', (_, write) => {
    write(`a${HOSTILE}b`);
    expect(withoutLineBreaks(1)).not.toMatch(CONTROL);
    expect(written).toContain('a\\u001b]52;c;ZXZpbA==\\u0007\\u001b[2J');
  });

  test('and other scripts and symbols as they are', () => {
    writeOut('日本語 ünï עברית العربية 🕸 👩‍💻 · █░ …');
    expect(written).toBe('日本語 ünï עברית العربية 🕸 👩‍💻 · █░ …\n');
  });

  test('as JSON that means the same', () => {
    const value = { title: HOSTILE, [HOSTILE]: ['\\', '"', HOSTILE] };
    writeOut(JSON.stringify(value));
    expect(withoutLineBreaks(1)).not.toMatch(CONTROL);
    expect(JSON.parse(written)).toEqual(value);
  });
});

test('an export has every control character escaped, one line per page', async () => {
  vi.restoreAllMocks();
  const chunks: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    chunks.push(String(chunk));
    return true;
  });
  await writeOutAll(
    (async function* () {
      yield JSON.stringify({ title: HOSTILE });
      yield JSON.stringify({ title: 'b' });
    })(),
  );
  written = chunks.join('');
  expect(withoutLineBreaks(2)).not.toMatch(CONTROL);
  expect(JSON.parse(written.split('\n')[0] ?? '')).toEqual({ title: HOSTILE });
});

describe('no control character of a site reaches the terminal from', () => {
  const url = `https://example.org/${HOSTILE}`;
  const progress = {
    ...RUNNING,
    status: 'Failed' as const,
    reason: HOSTILE,
    skipped: { [HOSTILE]: 1 },
    cooling: [{ domain: HOSTILE, readyInMs: 1 }],
  };
  const request = (startedAtMs: number) => aRequest(HOSTILE, startedAtMs, url);
  const outage = {
    since: 0,
    until: NOW.getTime() + 1_000,
    failures: 1,
    error: HOSTILE,
    validFrom: 1,
    grewAfter: 0,
  };
  const live = view(
    { ...newThrottle(HOSTILE, CONFIG), openedAt: 0, outages: { [url]: outage } },
    NOW.getTime(),
  );
  const stored = { ...toStoredDomain(newThrottle(HOSTILE, CONFIG)), outages: { [url]: outage } };
  const domains = [
    { domain: HOSTILE, live, known: null },
    { domain: HOSTILE, live: null, known: { name: HOSTILE, stored, lastStart: null, writtenAt: NOW } },
  ];
  const work = { active: false, reason: HOSTILE } as const;
  const page = aPage({
    attempts: [anAttempt(NOW, { errorKind: HOSTILE, error: HOSTILE, statusCode: 200 })],
    robotsFailure: { error: HOSTILE, since: NOW, retryAt: NOW },
    chain: [{ url, step: 1 }],
    page: {
      url,
      domain: HOSTILE,
      status: 'Failed',
      reason: HOSTILE,
      attempts: 1,
      redirectTo: url,
      statusCode: 200,
      title: HOSTILE,
      fetchedAt: NOW,
    },
  });
  const disallowed = { kind: 'disallowed', domain: HOSTILE, request: request(0), why: HOSTILE } as const;
  const gap = {
    before: request(0),
    after: request(900),
    gapMs: 900,
    clockErrorMs: 0,
    requiredMs: 1_000,
  };

  const order: RecordedOrder = {
    id: 'order',
    givenAt: NOW,
    kind: 'exclude',
    crawlId: HOSTILE,
    domain: null,
    channel: 'api',
    by: HOSTILE,
    reason: HOSTILE,
    effect: HOSTILE,
  };
  const health = {
    ...{ postgresError: HOSTILE, temporalError: HOSTILE, clockOffsetMs: 0, databaseBytes: 0, stop: order },
    contentStore: { name: HOSTILE, isBucket: false, error: HOSTILE, freeBytes: 0, sizeBytes: 0 },
    workers: [
      {
        ...{
          identity: HOSTILE,
          startedAt: NOW,
          seenAt: NOW,
          clockOffsetMs: 0,
          openFetches: 0,
          waitingFetches: 0,
        },
        ...{ eventLoopLagMs: 0, unavailable: [HOSTILE] },
      },
    ],
    backlog: [{ queue: HOSTILE, tasks: 1, oldestMs: 1 }],
    crawls: [
      {
        id: HOSTILE,
        status: 'Running' as const,
        open: 1,
        due: 1,
        lastDoneAt: NOW,
        asOrdered: false,
        waitsFor: HOSTILE,
      },
    ],
    findings: [{ level: 'bad' as const, what: HOSTILE, cure: HOSTILE }],
  };

  test.each([
    ['a command', [`crawl${HOSTILE}`]],
    ['an option', ['status', `--${HOSTILE}`]],
    ['a value', ['export', 'a', '--format', HOSTILE]],
    ['an argument', ['status', 'a', HOSTILE]],
  ])('the error for %s that does not exist', async (_, args) => {
    const program = buildProgram(() => {});
    await expect(program.parseAsync(['node', 'amble', ...args])).rejects.toThrow();
    expect(withoutLineBreaks(1)).not.toMatch(CONTROL);
    expect(written).toMatch(/^amble: /);
  });

  test.each<[string, string[]]>([
    ['amble crawl and cancel', renderSummary(progress)],
    ['amble status', renderCrawls([{ progress: { ...progress, crawl: HOSTILE }, work }])],
    [
      'amble status of a crawl',
      renderCrawl(
        {
          progress,
          work,
          domains: [{ domain: HOSTILE, found: 1, fetched: 0, failed: 1, open: 0, paused: false }],
          open: [],
        },
        {},
        NOW,
      ),
    ],
    ['amble page', renderPageReport(page, { slot: null, domain: null, work }, NOW)],
    ['amble orders', renderOrders([order], NOW)],
    ['amble up while everything is stopped', [renderStop(order, NOW)]],
    [
      'amble exclude --preview',
      renderExcludePreview({ matching: 1, compared: 1, pending: 1, examples: [url] }),
    ],
    ['amble retry --preview', renderRetryPreview(HOSTILE, { pages: 1, samples: [{ url, reason: HOSTILE }] })],
    ['amble doctor', renderHealth(health, NOW)],
    ['amble domain', renderDomains(domains, NOW)],
    ['amble domain of a running throttle', renderDomain({ domain: HOSTILE, live, known: null }, NOW)],
    [
      'amble verify',
      renderProof(
        {
          requests: 2,
          withinClockError: 0,
          rulesDropped: 0,
          rulesTooSlow: 0,
          domains: [{ domain: HOSTILE, requests: 2, tightest: gap }],
          addresses: 1,
          exemptRequests: 1,
          violations: [
            disallowed,
            { kind: 'gap', domain: HOSTILE, ...gap },
            { kind: 'attempts', crawlId: 'example', url, attempts: 4, allowed: 3 },
          ],
          violationCount: 3,
        },
        { everyDomain: true },
      ),
    ],
  ])('%s', (_, lines) => {
    expect(lines.join('')).toContain('52;c;ZXZpbA==');
    for (const line of lines) writeOut(line);
    expect(withoutLineBreaks(lines.length)).not.toMatch(CONTROL);
  });

  test.each([true, false])('the progress display (on a terminal: %s)', (isTTY) => {
    let drawn = '';
    const screen = { write: (text: string) => (drawn += text), isTTY, columns: 200 };
    const display = createDisplay(screen, { NO_COLOR: '1' });
    display.show(progress);
    display.log(HOSTILE);
    display.close();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the display's own.
    const own = /\x1b\[\d+A\r\x1b\[0J|\n/g;
    expect(drawn).toContain('ZXZpbA==');
    expect(drawn.replace(own, '')).not.toMatch(CONTROL);
  });

  test('a live line, which stays as narrow as the terminal', () => {
    let drawn = '';
    const screen = { write: (text: string) => (drawn += text), isTTY: true, columns: 40 };
    createDisplay(screen, { NO_COLOR: '1' }).show(progress);
    for (const line of drawn.split('\n')) expect(line.length).toBeLessThan(40);
  });
});

test('a table stays aligned', () => {
  const lines = renderTable(
    ['Title', 'Count'],
    [
      [HOSTILE, 1],
      ['b', 2],
    ],
  );
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
});

test('only the terminal writes to standard output and standard error', () => {
  const writers = readSources()
    .filter(({ text }) => /process\.std(?:out|err)\b(?!\.isTTY)|console\.\w+\(/.test(text))
    .map(({ path }) => path);
  expect(writers).toEqual([
    'src/cli/terminal.ts',
    // Gives the stream to the progress display, which escapes what it draws.
    'src/cli/watch-crawl.ts',
    // In the script of a child process.
    'src/embedded/temporal-binary.ts',
  ]);
});
