/** Buttons that give orders. They are forms, so that they work without a script. */
import type { Child } from './jsx.ts';

export interface OrderFormProps {
  kind: string;
  /** What it is about: one of them. */
  crawl?: string;
  domain?: string;
  /** Ask for a reason next to the button. */
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
  const id = `${kind}-${crawl ?? domain ?? 'all'}`;
  return (
    <form method="post" action="/orders">
      <input type="hidden" name="kind" value={kind} />
      {crawl !== undefined && <input type="hidden" name="crawl" value={crawl} />}
      {domain !== undefined && <input type="hidden" name="domain" value={domain} />}
      <input type="hidden" name="back" value={back} />
      {children}
      {askReason && (
        <input
          name="reason"
          maxlength={500}
          placeholder="Reason (optional)"
          aria-label={`Reason: ${label}`}
        />
      )}
      <button type="submit" id={id} class={danger ? 'danger' : undefined} aria-label={label}>
        {text}
      </button>
    </form>
  );
}
