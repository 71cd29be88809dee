/** A site whose titles, paths, headers and robots.txt try to leave their place. */
import { links, type Site } from '../support/web.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>\u202Egnp.exe\u001b]0;owned\u0007 ${'long '.repeat(2_000)}`;
export const HOSTILE_PATH = `/a"><script>alert(3)</script>`;

export const hostileSite: Site = (path) => {
  if (path === '/robots.txt') return { body: `User-agent: *\nDisallow: /private\n# ${HOSTILE}` };
  if (path === '/')
    return { body: links('/private', '/missing', HOSTILE_PATH, '/type', '/away', `/${'deep/'.repeat(60)}`) };
  if (path === '/type') return { headers: { 'content-type': 'x/y"><script>alert(4)</script>' }, body: 'x' };
  if (path === '/away')
    return { status: 302, headers: { location: 'javascript:alert(5)//"><img src=x onerror=alert(6)>' } };
  if (path === '/missing') return undefined;
  return { body: `<title>${HOSTILE.replaceAll('<', '&lt;')}</title>` };
};
