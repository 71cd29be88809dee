/** Buttons that give orders. They are forms, so that they work without a script. */
import type { Child } from './jsx.ts';

export interface OrderFormProps {
  kind: string;
  /** What it is about: one of them. */
  crawl?: string;
  domain?: string;
  /** Show the field for a reason. Lists have a button a row, and the field behind it. */
  askReason?: boolean;
  danger?: boolean;
  /** Where to go back to. */
  back: string;
  /** Says what the button is about, for those who only hear its name. */
  label: string;
  /** The button's text. */
  text: string;
  /** Further fields. */
  children?: Child;
}

export function OrderForm(props: OrderFormProps) {
  const { kind, crawl, domain, back, label, text, askReason, danger, children } = props;
  // An open page that is brought up to date takes forms with the same id for the same.
  const id = `${kind}-${crawl ?? domain ?? 'all'}`;
  const reason = (
    <input name="reason" maxlength={500} placeholder="Reason (optional)" aria-label={`Reason: ${label}`} />
  );
  return (
    <form method="post" action="/orders" id={id}>
      <input type="hidden" name="kind" value={kind} />
      {crawl !== undefined && <input type="hidden" name="crawl" value={crawl} />}
      {domain !== undefined && <input type="hidden" name="domain" value={domain} />}
      <input type="hidden" name="back" value={back} />
      {children}
      {askReason && reason}
      <button type="submit" class={danger ? 'danger' : undefined} aria-label={label}>
        {text}
      </button>
      {!askReason && (
        <details class="reason">
          <summary title="Give a reason" aria-label={`Give a reason: ${label}`}>
            …
          </summary>
          {reason}
        </details>
      )}
    </form>
  );
}
