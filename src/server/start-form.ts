/** The form that starts a crawl: its fields, and the command that would do the same. */
import { BadInput, PRESET_NAMES } from '../config/index.ts';
import { quoteForShell } from '../core/format.ts';

export interface StartField {
  /** Of the setting, and of the field. */
  name: string;
  label: string;
  /** Of the command line. */
  flag: string;
  hint: string;
  choices?: readonly string[];
  /** What people type is a list. */
  list?: boolean;
}

export const START_FIELDS: readonly StartField[] = [
  { name: 'id', label: 'Name', flag: '--id', hint: 'made from the first URL if empty' },
  {
    name: 'preset',
    label: 'Preset',
    flag: '--preset',
    hint: 'smallweb: 10 s between requests; shop: 5 to 15 s at random; news: 5 s; broad: 1 s, any domain',
    choices: PRESET_NAMES,
  },
  { name: 'maxPages', label: 'Max pages', flag: '--max-pages', hint: 'to fetch, such as 500' },
  {
    name: 'delay',
    label: 'Delay',
    flag: '--delay',
    hint: 'between requests to one domain, such as 10s or 5s-15s',
  },
  {
    name: 'scope',
    label: 'Scope',
    flag: '--scope',
    hint: 'where links may lead',
    choices: ['host', 'site', 'any'],
  },
  {
    name: 'maxDepth',
    label: 'Max depth',
    flag: '--max-depth',
    hint: 'links away from a seed, such as 3',
  },
  {
    name: 'include',
    label: 'Include',
    flag: '--include',
    hint: 'patterns such as /docs/*, separated by spaces',
    list: true,
  },
  {
    name: 'exclude',
    label: 'Exclude',
    flag: '--exclude',
    hint: 'patterns such as /calendar/*, separated by spaces',
    list: true,
  },
];

/** What was typed, by field; `seeds` are separated by white space. */
export type StartValues = Readonly<Record<string, string>>;

function words(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((word) => word !== '');
}

function given(values: StartValues): (StartField & { value: string })[] {
  return START_FIELDS.flatMap((field) => {
    const value = values[field.name]?.trim() ?? '';
    return value === '' ? [] : [{ ...field, value }];
  });
}

export function startCommand(values: StartValues): string {
  const seeds = words(values.seeds);
  const flags = given(values).flatMap(({ flag, value, list }) =>
    (list ? words(value) : [value]).flatMap((one) => [flag, one]),
  );
  return ['amble', 'crawl', ...(seeds.length === 0 ? ['https://example.org/'] : seeds), ...flags]
    .map(quoteForShell)
    .join(' ');
}

/** From the fields of the form to the input of a crawl. Throws BadInput. */
export function toNewCrawl(fields: Readonly<Record<string, unknown>>) {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string') throw new BadInput('Unknown form.');
    values[name] = value;
  }
  const settings = given(values).map(({ name, value, list }) => [name, list ? words(value) : value]);
  return { ...Object.fromEntries(settings), seeds: words(values.seeds) };
}
