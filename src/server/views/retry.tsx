/** Retry: which failed pages of a crawl an order would have tried again, and how far an order is. */
import { formatCount, formatPlural } from '../../core/format.ts';
import { findCrawl } from '../../storage/crawls.ts';
import {
  previewRetry,
  type RetryPreview,
  type RetryProgress,
  readRetryProgress,
} from '../../storage/frontier/retry.ts';
import { OrderForm } from '../html/orders.tsx';
import { crawlAddress, FromWeb, Live, Share, Table } from '../html/parts.tsx';
import { retrySelection } from '../orders.ts';
import { defineView } from '../view.ts';
import { LinkToPage } from './page-content.tsx';

interface Retry {
  crawl: string;
  cause: string;
  domain: string;
  preview: RetryPreview;
  /** Of the order that was given. null: none was. */
  progress: RetryProgress | null;
}

export const retryView = defineView<Retry>({
  path: '/crawls/:crawl/retry',
  title: ({ crawl }) => `Retry · ${crawl}`,
  async load({ services, params: { crawl = '' }, query }) {
    const { db } = services;
    if ((await findCrawl(db, crawl)) === null) return null;
    const [cause = '', domain = '', order = ''] = ['cause', 'domain', 'order'].map(
      (name) => query.get(name) ?? '',
    );
    const [preview, progress] = await Promise.all([
      previewRetry(db, crawl, retrySelection(services, { cause, domain })),
      order === '' ? null : readRetryProgress(db, order),
    ]);
    return { crawl, cause, domain, preview, progress };
  },
  render({ crawl, cause, domain, preview, progress }) {
    const address = crawlAddress(crawl);
    return (
      <>
        <h1>Retry failed pages</h1>
        <p class="lead">
          Crawl <a href={address}>{crawl}</a>
        </p>
        <form action={`${address}/retry`} class="actions">
          <input
            name="cause"
            value={cause}
            placeholder="Any cause"
            aria-label="Cause, such as timeout or status/503"
          />
          <input name="domain" value={domain} placeholder="Any domain" aria-label="Domain" />
          <button type="submit">Preview</button>
        </form>
        <Live id="retry">
          {progress !== null && <Progress progress={progress} />}
          <h2>{`${formatPlural(preview.pages, 'failed page')} would be retried`}</h2>
          <Table
            caption="Examples"
            rows={preview.samples}
            empty="No failed page matches."
            columns={[
              { head: 'URL', cell: ({ url }) => <LinkToPage url={url} crawl={crawl} /> },
              { head: 'Why it failed', cell: ({ reason }) => reason && <FromWeb text={reason} /> },
            ]}
          />
        </Live>
        {preview.pages > 0 && (
          <div class="actions">
            <OrderForm
              kind="retry"
              crawl={crawl}
              back={`${address}/retry`}
              label={`Retry these ${formatCount(preview.pages)} of ${crawl}`}
              text={`Retry these ${formatCount(preview.pages)}`}
              askReason
            >
              <input type="hidden" name="cause" value={cause} />
              <input type="hidden" name="domain" value={domain} />
            </OrderForm>
          </div>
        )}
      </>
    );
  },
});

function Progress({ progress: { pages, done, byStatus, atLeast } }: { progress: RetryProgress }) {
  const counts = Object.entries(byStatus).map(([status, count]) => `${formatCount(count)} ${status}`);
  const bound = atLeast ? 'at least ' : '';
  return (
    <div class="card">
      <h2>{`${formatCount(done)} of ${bound}${formatPlural(pages, 'retried page')} are done`}</h2>
      <Share part={done} of={pages} label={`${done} of ${pages} retried pages are done`} />
      <p>{counts.join(' · ')}</p>
    </div>
  );
}
