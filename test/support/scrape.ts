/** Reads the text format of Prometheus, as far as our metrics use it. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  /** Of metrics, without the suffixes of the parts of a histogram. */
  names: ReadonlySet<string>;
  samples: Sample[];
  /** The sample with exactly these labels; undefined: there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** Of all samples of that name. */
  sum(name: string): number;
}

export async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}.`);
  return parseExposition(await response.text());
}

export function parseExposition(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '');
  const types = lines.flatMap((line) => /^# TYPE (\S+) (?:counter|gauge|histogram)$/.exec(line)?.[1] ?? []);
  const samples = lines.filter((line) => !line.startsWith('#')).map(parseSample);
  const same = (one: object, other: object) =>
    JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
  return {
    names: new Set(types),
    samples,
    value: (name, labels = {}) =>
      samples.find((sample) => sample.name === name && same(sample.labels, labels))?.value,
    sum: (name) =>
      samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0),
  };
}

function parseSample(line: string): Sample {
  const match = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`Not a sample: ${line}`);
  const [, name = '', labels = '', value] = match;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
