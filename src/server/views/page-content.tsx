/** The links of a page and the content that is stored of it. */
import { formatCount, formatPlural } from '../../core/format.ts';
import { MAX_COMPARED, type PageContent } from '../../storage/reports/page-content.ts';
import type { BodyText } from '../body-text.ts';
import { FromWeb, Lines, Table } from '../html/parts.tsx';

export function LinkToPage({ url, crawl }: { url: string; crawl: string }) {
  return (
    <a href={`/page?url=${encodeURIComponent(url)}&crawl=${encodeURIComponent(crawl)}`}>
      <FromWeb text={url} max={120} />
    </a>
  );
}

export function Links({ content, crawl }: { content: PageContent; crawl: string }) {
  const { linksOut, linksIn, linksFound, linksSkipped } = content;
  const skipped = Object.entries(linksSkipped).map(([reason, links]) => `${formatCount(links)} ${reason}`);
  return (
    <>
      <h2>Links on it</h2>
      <p class="muted">
        {formatPlural(linksFound, 'link')}
        {skipped.length > 0 && `, of which not followed: ${skipped.join(', ')}`}.
        {linksOut.length < linksFound && ` ${formatCount(linksOut.length)} are shown.`}
      </p>
      <Table
        caption="Links on this page"
        rows={linksOut}
        empty="None are on record."
        columns={[
          { head: 'URL', cell: ({ url }) => <LinkToPage url={url} crawl={crawl} /> },
          { head: 'Text', cell: ({ anchor }) => anchor && <FromWeb text={anchor} max={100} /> },
          { head: 'rel', cell: ({ rel }) => rel && <FromWeb text={rel} max={40} /> },
        ]}
      />
      <h2>Links to it</h2>
      {content.moreLinksIn && (
        <p class="muted">
          Many pages link to it; of all crawls, {formatCount(MAX_COMPARED)} links were looked at.
        </p>
      )}
      <Table
        caption="Pages of this crawl that link to this page"
        rows={linksIn}
        empty={content.moreLinksIn ? 'None of those are on pages of this crawl.' : 'None are on record.'}
        columns={[
          { head: 'On', cell: ({ url }) => <LinkToPage url={url} crawl={crawl} /> },
          { head: 'Text', cell: ({ anchor }) => anchor && <FromWeb text={anchor} max={100} /> },
        ]}
      />
    </>
  );
}

export function Content({
  content,
  body,
  crawl,
}: {
  content: PageContent;
  body: BodyText | null;
  crawl: string;
}) {
  const facts: [string, string | null][] = [
    ['Title', content.title],
    ['Description', content.description],
    ['Canonical URL', content.canonicalUrl],
    ['Language', content.language],
    ['Type', content.contentType],
    ['Size', content.contentBytes === null ? null : formatPlural(content.contentBytes, 'byte')],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  if (known.length === 0) return null;
  return (
    <>
      <h2>Content</h2>
      <dl class="facts">
        {known.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <FromWeb text={value} />
            </dd>
          </>
        ))}
        {content.duplicateOf !== null && (
          <>
            <dt>Same as</dt>
            <dd>
              <LinkToPage url={content.duplicateOf} crawl={crawl} />
            </dd>
          </>
        )}
      </dl>
      {body?.kind === 'unavailable' && <p class="muted">{body.reason}</p>}
      {body?.kind === 'text' && (
        <details id="body">
          <summary>Stored body as text{body.more && ', first 16 KiB'}</summary>
          <pre tabindex={0}>
            <Lines text={body.text} max={2_000} />
          </pre>
        </details>
      )}
    </>
  );
}
