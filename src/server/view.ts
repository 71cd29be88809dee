/**
 * How a view is made. One file in views/ exports `defineView({ path, title, load, render })` and is listed in views/index.ts; the
 * rest follows from that:
 *
 * - `GET path` is the page, `GET path.json` is what `load` returned, and an EventSource on the same address gets the page
 *   again whenever it changes.
 * - `load` reads; it throws BadInput for a bad address (400) and returns null for what does not exist (404). If Postgres is
 *   unavailable it may throw: the page then shows what was loaded last, and says so. Ask Temporal through `askTemporal`.
 * - `render` makes HTML from the data alone, so the page and its JSON never disagree. Parts that change are wrapped in
 *   `<Live id="...">`. Text from the web is written as `<FromWeb text={...} />`. Neither inline scripts nor `style` attributes
 *   work: the Content-Security-Policy forbids them.
 */
import type { HtmlEscapedString } from 'hono/utils/html';
import type { Services } from './services.ts';

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export interface ViewRequest {
  services: Services;
  /** Parts of the path, decoded, such as `crawl` of `/crawls/:crawl`. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  now: Date;
}

export interface ViewDefinition<Data> {
  path: string;
  /** Its name in the navigation; absent: it is not there. */
  nav?: string;
  /** Served to everybody, so nothing is kept open for it. */
  isPublic?: true;
  /** It takes long to load: an open page is not sent again when it changes. */
  isLive?: false;
  /** It says itself what is missing without Postgres, and does not wait for it for long. */
  needsDatabase?: false;
  title(data: Data): string;
  load(request: ViewRequest): Promise<Data | null>;
  render(data: Data, now: Date): Html;
}

/** A view with its data, whose type only the view itself knows. */
export interface LoadedView {
  data: unknown;
  title: string;
  render(now: Date): Html;
}

export interface View {
  path: string;
  nav: string | null;
  isPublic: boolean;
  isLive: boolean;
  needsDatabase: boolean;
  load(request: ViewRequest): Promise<LoadedView | null>;
}

export function defineView<Data>(definition: ViewDefinition<Data>): View {
  const { path, nav = null, isPublic = false, isLive = !isPublic, title, load, render } = definition;
  const { needsDatabase = true } = definition;
  return {
    ...{ path, nav, isPublic, isLive, needsDatabase },
    async load(request) {
      const data = await load(request);
      return data === null ? null : { data, title: title(data), render: (now) => render(data, now) };
    },
  };
}

/** Ids exceed what a JSON number holds, and bytes are hashes. */
export function toJson(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  });
}
