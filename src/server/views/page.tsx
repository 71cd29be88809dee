/** A page, found by its URL: what state it is in and why, every attempt, its links, its content. */
import { BadInput } from '../../config/index.ts';
import { formatPlural } from '../../core/format.ts';
import { isOpen } from '../../core/outcome.ts';
import { describePage, type PageContext } from '../../operator/describe-page.ts';
import { workflowIdOf } from '../../operator/page-context.ts';
import { workStatusOf } from '../../operator/work-status.ts';
import { type PageContent, readPageContent } from '../../storage/reports/page-content.ts';
import { type PageReport, readPage } from '../../storage/reports/page-report.ts';
import { readSkipRules, type SkipRule } from '../../storage/reports/skip-rules.ts';
import { normaliseUrl } from '../../urls/index.ts';
import { type BodyText, readBodyText } from '../body-text.ts';
import { Badge, CrawlLink, FromWeb, Live, type Tone } from '../html/parts.tsx';
import { readPlaceNow } from '../live-answers.ts';
import { askTemporal, type Services } from '../services.ts';
import { defineView } from '../view.ts';
import { Attempts } from './page-attempts.tsx';
import { Content, Links, LinkToPage } from './page-content.tsx';

interface FoundPage {
  report: PageReport;
  context: PageContext;
  /** Why it is not fetched yet, or how it ended. */
  sentence: string;
  content: PageContent | null;
  body: BodyText | null;
  /** Its workflow in the Temporal Web UI. null: the address of that is not known. */
  workflow: string | null;
}

/** `found` null: no crawl on record has it. `url` null: none was given. */
interface PageSearch {
  url: string | null;
  found: FoundPage | null;
  /** What open crawls would do with a URL that was not found. */
  rules: SkipRule[];
}

const TONES: Record<PageReport['page']['status'], Tone> = {
  ...{ Pending: 'quiet', Queued: 'busy', Waiting: 'warn', Fetched: 'good', Redirected: 'good' },
  ...{ Rejected: 'quiet', Blocked: 'warn', Failed: 'bad', Cancelled: 'quiet' },
};

export const pageView = defineView<PageSearch>({
  path: '/page',
  title: ({ url }) => url ?? 'Find a page',
  async load({ services, query, now }) {
    const url = query.get('url')?.trim() ?? '';
    if (url === '') return { url: null, found: null, rules: [] };
    const normalised = normaliseUrl(url);
    if (!normalised.ok)
      throw new BadInput(
        `Invalid URL ${JSON.stringify(url)}: write it out, as in https://example.org/about.`,
      );
    const report = await readPage(services.db, url, query.get('crawl') ?? undefined);
    return {
      url: normalised.url,
      found: report && (await readFound(services, report, now)),
      rules: report === null ? await readSkipRules(services.db, url) : [],
    };
  },
  render({ url, found, rules }, now) {
    if (url === null || found === null)
      return (
        <>
          <h1>Find a page</h1>
          {url !== null && (
            <p class="notice warn">
              No crawl on record has found <FromWeb text={url} />.
            </p>
          )}
          {rules.length > 0 && (
            <ul>
              {rules.map(({ crawl, reason }) => (
                <li>
                  <CrawlLink id={crawl} />{' '}
                  {reason === null
                    ? 'would follow a link to it, but has found none so far.'
                    : `would not follow a link to it: ${reason}.`}
                </li>
              ))}
            </ul>
          )}
          <SearchForm url={url ?? ''} />
        </>
      );
    const { report, sentence, context, content, body, workflow } = found;
    const { page, crawl, alsoIn } = report;
    return (
      <>
        <Live id="page">
          <div class="head">
            <h1>
              <FromWeb text={page.url} />
            </h1>
            <Badge tone={TONES[page.status]}>{page.status}</Badge>
          </div>
          <p class="held">
            <FromWeb text={capitalise(sentence)} max={1_000} />
          </p>
          {context.work?.active === false && (
            <p class="notice bad">The crawl is stalled: {context.work.reason}.</p>
          )}
          <dl class="facts">
            <dt>Crawl</dt>
            <dd>
              <CrawlLink id={crawl.id} />
              {alsoIn.map((id, at) => (
                <>
                  {at === 0 ? '; also in ' : ', '}
                  <a href={`/page?url=${encodeURIComponent(page.url)}&crawl=${encodeURIComponent(id)}`}>
                    {id}
                  </a>
                </>
              ))}
            </dd>
            <dt>Domain</dt>
            <dd>
              <a href={`/domains/${encodeURIComponent(page.domain)}`}>{page.domain}</a>
            </dd>
            <dt>Found</dt>
            <dd>
              {page.isSeed ? 'as a seed' : `${formatPlural(page.depth, 'link')} from a seed`}
              {content?.foundOn != null && (
                <>
                  , first on <LinkToPage url={content.foundOn} crawl={crawl.id} />
                </>
              )}
            </dd>
            {workflow !== null && (
              <>
                <dt>Workflow</dt>
                <dd>
                  <a href={workflow}>in the Temporal Web UI</a>
                </dd>
              </>
            )}
          </dl>
          <Chain report={report} />
          <h2>Attempts</h2>
          <Attempts report={report} now={now} />
        </Live>
        {content !== null && (
          <Live id="content">
            <Content content={content} body={body} crawl={crawl.id} />
            <Links content={content} crawl={crawl.id} />
          </Live>
        )}
      </>
    );
  },
});

async function readFound(services: Services, report: PageReport, now: Date): Promise<FoundPage> {
  const { db, config, temporalUi } = services;
  const { page, crawl } = report;
  const [work, place, content] = await Promise.all([
    isOpen(page.status) ? askTemporal(services, (client) => workStatusOf(client, config, [crawl.id])) : null,
    // Without an answer, the row of the domain still says who paused it.
    readPlaceNow(services, report),
    readPageContent(db, page),
  ]);
  const context = { ...place, work: work?.get(crawl.id) ?? null };
  const { contentHash, contentType } = content ?? {};
  return {
    report,
    context,
    sentence: describePage(report, context, now),
    content,
    body: contentHash
      ? await readBodyText(config.contentStore, { contentHash, contentType: contentType ?? null })
      : null,
    workflow:
      temporalUi &&
      `${temporalUi.replace(/\/$/, '')}/namespaces/${encodeURIComponent(config.temporalNamespace)}/workflows/${encodeURIComponent(workflowIdOf(page))}`,
  };
}

function capitalise(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function SearchForm({ url }: { url: string }) {
  return (
    <form action="/page" class="stack">
      <label for="url">URL of a page</label>
      <input
        id="url"
        name="url"
        type="text"
        inputmode="url"
        value={url}
        placeholder="https://example.org/about"
        required
      />
      <button type="submit">Find it</button>
    </form>
  );
}

function Chain({ report: { page, chain, crawl } }: { report: PageReport }) {
  if (chain.length === 0) return null;
  const steps = [...chain, { url: page.url, step: 0 }].sort((one, other) => one.step - other.step);
  return (
    <>
      <h2>Redirects</h2>
      <ol class="plain chain">
        {steps.map(({ url, step }) => (
          <li>{step === 0 ? <strong>this page</strong> : <LinkToPage url={url} crawl={crawl.id} />}</li>
        ))}
      </ol>
    </>
  );
}
