/** The page for owners of sites: who crawls, how to slow it down or stop it, and how their own site is treated. */
import { BadInput } from '../../config/index.ts';
import { productToken } from '../../http/index.ts';
import { parseDomain } from '../../operator/domains.ts';
import { readSiteTreatment, type SiteTreatment } from '../../reports/site-treatment.ts';
import { defineView } from '../view.ts';
import { Treatment } from './bot-treatment.tsx';
import { periodOf } from './proof.tsx';

interface Bot {
  userAgent: string;
  token: string;
  /** null: none is set, or it is this page. */
  contact: string | null;
  from: string | null;
  /** null: no host was given. */
  site: SiteTreatment | null;
}

export const botView = defineView<Bot>({
  path: '/bot',
  isPublic: true,
  title: ({ token }) => `About the crawler ${token}`,
  async load({ services: { db, config }, query, now }) {
    const token = productToken(config.userAgent);
    const typed = query.get('host')?.trim() ?? '';
    const { userAgent, from, publicBotUrl } = config;
    const contact = config.contact === publicBotUrl ? null : config.contact;
    const options = { period: periodOf(query, now), token };
    return {
      ...{ userAgent, token, contact, from },
      site: typed === '' ? null : await readSiteTreatment(db, siteOf(typed, config.politenessKey), options),
    };
  },
  render({ userAgent, token, contact, from, site }, now) {
    return (
      <>
        <h1>About the crawler {token}</h1>
        <p class="lead">
          You found this crawler in the log of your site. This page says what it does, how to slow it down or
          stop it, and how it has treated your site.
        </p>
        <dl class="facts">
          <dt>User-Agent</dt>
          <dd>
            <code>{userAgent}</code>
          </dd>
          {(contact !== null || from === null) && (
            <>
              <dt>Contact</dt>
              <dd>
                {contact === null ? (
                  'None is configured. robots.txt, as below, is obeyed in any case.'
                ) : (
                  <a href={contact} rel="noreferrer">
                    {contact}
                  </a>
                )}
              </dd>
            </>
          )}
          {from !== null && (
            <>
              <dt>Email</dt>
              <dd>
                <a href={`mailto:${from}`}>{from}</a>
              </dd>
            </>
          )}
        </dl>
        <h2>How we treat your site</h2>
        <form action="/bot" class="actions">
          <label for="host">Host name of your site</label>
          <input
            id="host"
            name="host"
            value={site?.host ?? ''}
            placeholder="www.example.org"
            required
            maxlength={253}
          />
          <button type="submit">Show</button>
        </form>
        {site !== null && <Treatment site={site} token={token} now={now} />}
        <h2>How to slow it down or stop it</h2>
        <p>
          It reads <code>/robots.txt</code> of each host at least once a day, and obeys it (RFC 9309). A group
          that names <code>{token}</code> applies to it alone; otherwise the group <code>*</code> applies.
        </p>
        <Example title="Stop it" text={`User-agent: ${token}\nDisallow: /`} />
        <Example title="Keep it out of a directory" text={`User-agent: ${token}\nDisallow: /private/`} />
        <Example
          title="Slow it down to a request every 30 seconds"
          text={`User-agent: ${token}\nAllow: /\nCrawl-delay: 30`}
        />
        <p>
          It keeps a gap between the starts of two requests to a host; a <code>429</code> or <code>5xx</code>{' '}
          response makes the gap longer, and it waits as long as <code>Retry-After</code> says. Pages with{' '}
          <code>&lt;meta name="robots" content="nofollow"&gt;</code> or links with <code>rel="nofollow"</code>{' '}
          are not followed.
        </p>
      </>
    );
  },
});

/** The host itself, and the domain by which its requests are recorded. */
function siteOf(typed: string, unit: Parameters<typeof parseDomain>[1]): { host: string; domain: string } {
  if (typed.length > 253) throw new BadInput('A host name has at most 253 characters.');
  return { host: parseDomain(typed, 'host'), domain: parseDomain(typed, unit) };
}

function Example({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3>{title}</h3>
      <pre tabindex={0}>{text}</pre>
    </>
  );
}
