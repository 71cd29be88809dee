/** Renders the pages of the demo web as small, valid HTML. */
import { absoluteLink, type DemoHost, type DemoPage } from './site.ts';

export function renderPage(host: DemoHost, page: Extract<DemoPage, { kind: 'html' }>, port: number): string {
  const links = page.links.map((link) => {
    const url = link.startsWith('//') ? absoluteLink(link, host.name, port) : link;
    return `<li><a href="${escapeHtml(url)}">${escapeHtml(link.replace(/^\/\//, ''))}</a></li>`;
  });
  return layout(host, page.title, `<p>${escapeHtml(page.text)}</p>\n<ul>\n${links.join('\n')}\n</ul>`);
}

export function renderProblem(host: DemoHost, title: string, text: string): string {
  return layout(host, title, `<p>${escapeHtml(text)}</p>\n<p><a href="/">Back to the front page</a></p>`);
}

export function renderRobots({ robots }: DemoHost): string | null {
  if (!robots) return null;
  const delay = robots.crawlDelaySeconds === undefined ? [] : [`Crawl-delay: ${robots.crawlDelaySeconds}`];
  const rules =
    robots.disallow.length === 0 ? ['Disallow:'] : robots.disallow.map((path) => `Disallow: ${path}`);
  return ['User-agent: *', ...rules, ...delay, ''].join('\n');
}

function layout(host: DemoHost, title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
body { font: 1.05rem/1.6 Georgia, serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem; color: #222; background: #fbfaf6; }
header { border-bottom: 4px solid ${host.colour}; font-size: 1.2rem; }
h1 { color: ${host.colour}; font-weight: normal; }
a { color: ${host.colour}; }
ul { columns: 2; padding-left: 1.2rem; }
</style>
</head>
<body>
<header>${host.emblem} ${escapeHtml(host.title)}</header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
