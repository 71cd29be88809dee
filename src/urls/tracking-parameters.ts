/**
 * Query parameters that tell where a visitor came from and do not select a page. Only names that are documented for this purpose
 * and have no other use: `ref`, `source` or `cid` select content on many sites.
 */

/** In lower case. */
export const TRACKING_PARAMETERS: ReadonlySet<string> = new Set([
  // Google Ads and Analytics
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'srsltid',
  '_ga',
  '_gl',
  // Meta
  'fbclid',
  'fb_action_ids',
  'fb_action_types',
  'igshid',
  'igsh',
  // Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest, Reddit, Snapchat
  'msclkid',
  'yclid',
  'ysclid',
  '_openstat',
  'twclid',
  'ttclid',
  'li_fat_id',
  'epik',
  'rdt_cid',
  'sccid',
  // Adobe, HubSpot, Mailchimp, Marketo, Vero, Omeda, Drip, Impact
  's_kwcid',
  'ef_id',
  '_hsenc',
  '_hsmi',
  '__hssc',
  '__hstc',
  '__hsfp',
  'hsctatracking',
  'mc_cid',
  'mc_eid',
  'mkt_tok',
  'vero_id',
  'vero_conv',
  'oly_anon_id',
  'oly_enc_id',
  '__s',
  'irclickid',
]);

/** Every parameter with one of these prefixes is a tracking parameter. */
export const TRACKING_PREFIXES: readonly string[] = ['utm_', 'hsa_', 'pk_', 'piwik_', 'mtm_', 'matomo_'];
