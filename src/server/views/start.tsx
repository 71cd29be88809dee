/** Start a crawl: a form, and the command that would do the same. */
import { Live } from '../html/parts.tsx';
import { START_FIELDS, type StartField, type StartValues, startCommand } from '../start-form.ts';
import { defineView } from '../view.ts';

interface Start {
  values: StartValues;
  command: string;
}

export const startView = defineView<Start>({
  path: '/start',
  nav: 'Start',
  title: () => 'Start a crawl',
  async load({ query }) {
    const values = Object.fromEntries(query);
    return { values, command: startCommand(values) };
  },
  render({ values, command }) {
    return (
      <>
        <h1>Start a crawl</h1>
        <p class="lead">What you leave empty is as the preset or the configuration says.</p>
        <form method="post" action="/start" class="stack wide">
          <label for="seeds">URLs to start from</label>
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
          <pre>{command}</pre>
        </Live>
      </>
    );
  },
});

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
