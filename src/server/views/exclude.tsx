/** Exclude: which pending pages of a crawl a pattern would reject, before it does. */
import { parsePattern } from '../../operator/exclude-orders.ts';
import { findCrawl } from '../../storage/crawls.ts';
import { describePreview, type ExcludePreview, previewExclude } from '../../storage/frontier/exclude.ts';
import { OrderForm } from '../html/orders.tsx';
import { crawlAddress } from '../html/parts.tsx';
import { defineView } from '../view.ts';
import { LinkToPage } from './page-content.tsx';

interface Exclude {
  crawl: string;
  pattern: string;
  /** null: no pattern yet. */
  preview: ExcludePreview | null;
}

export const excludeView = defineView<Exclude>({
  path: '/crawls/:crawl/exclude',
  isLive: false,
  title: ({ crawl }) => `Exclude · ${crawl}`,
  async load({ services: { db }, params: { crawl = '' }, query }) {
    if ((await findCrawl(db, crawl)) === null) return null;
    const pattern = query.get('pattern') ?? '';
    const preview = pattern === '' ? null : await previewExclude(db, crawl, parsePattern(pattern));
    return { crawl, pattern, preview };
  },
  render({ crawl, pattern, preview }) {
    const address = crawlAddress(crawl);
    return (
      <>
        <h1>Exclude URLs</h1>
        <p class="lead">
          From crawl <a href={address}>{crawl}</a>, while it runs. Pages that match end as Rejected, with the
          reason.
        </p>
        <form action={`${address}/exclude`} class="actions">
          <input
            name="pattern"
            value={pattern}
            required
            placeholder="/calendar/*"
            aria-label="Pattern, such as /calendar/* or https://*.example.org/*"
          />
          <button type="submit">Preview</button>
        </form>
        {preview !== null && (
          <>
            <h2>{`Removes ${describePreview(preview)}`}</h2>
            <ul>
              {preview.examples.map((url) => (
                <li>
                  <LinkToPage url={url} crawl={crawl} />
                </li>
              ))}
            </ul>
            <div class="actions">
              <OrderForm
                kind="exclude"
                crawl={crawl}
                back={address}
                label={`Exclude ${pattern} from ${crawl}`}
                text="Exclude"
                danger
                askReason
              >
                <input type="hidden" name="pattern" value={pattern} />
              </OrderForm>
            </div>
          </>
        )}
      </>
    );
  },
});
