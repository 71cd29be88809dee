/** Names of the search attributes by which workflows are found in Temporal. All are keywords. */
export const SEARCH_ATTRIBUTES = {
  /** Of a crawl and its pages: the crawl's id. */
  crawl: 'AmbleCrawl',
  /** Of a page and of the throttle that grants its slots. */
  domain: 'AmbleDomain',
  /** Of a page: the outcome of its last attempt, once an attempt was not a success. */
  outcome: 'AmbleOutcome',
} as const;
