/** Start a crawl: a form, and the command that would do the same. */
import { BadInput } from '../../core/errors.ts';
import { FromWeb, Live } from '../html/parts.tsx';
import { prepareCrawl } from '../orders.ts';
import type { Services } from '../services.ts';
import { START_FIELDS, type StartField, type StartValues, startCommand, toNewCrawl } from '../start-form.ts';
import { defineView } from '../view.ts';

interface Start {
  values: StartValues;
  command: string;
  /** What is wrong with the values. null: nothing, or none were given. */
  problem: string | null;
}

export const startView = defineView<Start>({
  path: '/start',
  nav: 'Start',
  title: () => 'Start a crawl',
  async load({ services, query }) {
    const values = Object.fromEntries(query);
    const problem = query.has('seeds') ? await problemWith(services, values) : null;
    return { values, command: startCommand(values), problem };
  },
  render({ values, command, problem }) {
    return (
      <>
        <h1>Start a crawl</h1>
        <p class="lead">Empty fields take their value from the preset or the configuration.</p>
        {problem !== null && (
          <p class="notice bad" role="alert">
            <FromWeb text={problem} />
          </p>
        )}
        <form method="post" action="/start" class="stack wide">
          <label for="seeds">Seeds: URLs to start from</label>
          <textarea id="seeds" name="seeds" rows={3} required placeholder="https://example.org/">
            {values.seeds ?? ''}
          </textarea>
          <div class="fields">
            {START_FIELDS.map((field) => (
              <Field field={field} value={values[field.name] ?? ''} />
            ))}
          </div>
          <div class="actions">
            <button type="submit" class="primary">
              Start
            </button>
            <button type="submit" formmethod="get" formaction="/start">
              Show the command
            </button>
          </div>
        </form>
        <h2>The same on the command line</h2>
        <Live id="command">
          <pre tabindex={0}>{command}</pre>
        </Live>
      </>
    );
  },
});

async function problemWith(services: Services, values: StartValues): Promise<string | null> {
  try {
    await prepareCrawl(services, toNewCrawl(values));
    return null;
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
}

function Field({ field: { name, label, hint, choices }, value }: { field: StartField; value: string }) {
  return (
    <div>
      <label for={name}>{label}</label>
      {choices === undefined ? (
        <input id={name} name={name} value={value} aria-describedby={`${name}-hint`} />
      ) : (
        <select id={name} name={name} aria-describedby={`${name}-hint`}>
          <option value="">default</option>
          {choices.map((choice) => (
            <option value={choice} selected={choice === value}>
              {choice}
            </option>
          ))}
        </select>
      )}
      <small id={`${name}-hint`}>{hint}</small>
    </div>
  );
}
