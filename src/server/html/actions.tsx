/** What an operator can do about a crawl or a domain. */
import type { CrawlStatus } from '../../core/outcome.ts';
import { OrderForm } from './orders.tsx';
import { crawlAddress } from './parts.tsx';

/** `back`: the page to return to. */
export function CrawlActions({ id, status, back }: { id: string; status: CrawlStatus; back: string }) {
  const about = { crawl: id, back };
  const address = crawlAddress(id);
  // Lists have a button a row; the crawl's own page has room for a reason.
  const askReason = back === address;
  const isOpen = status === 'Running' || status === 'Paused';
  return (
    <div class="actions">
      {status === 'Running' && (
        <OrderForm kind="pause" {...about} label={`Pause ${id}`} text="Pause" askReason={askReason} />
      )}
      {status === 'Paused' && (
        <OrderForm kind="resume" {...about} label={`Resume ${id}`} text="Resume" askReason={askReason} />
      )}
      {askReason && (
        <>
          {isOpen && (
            <a class="button" href={`${address}/exclude`}>
              Exclude URLs
            </a>
          )}
          <a class="button" href={`${address}/retry`}>
            Retry failed
          </a>
          <a class="button" href={`/orders?crawl=${encodeURIComponent(id)}`}>
            Orders
          </a>
          {isOpen && (
            <details class="confirm" id="cancel">
              <summary class="button">Cancel</summary>
              <OrderForm
                kind="cancel"
                {...about}
                label={`Cancel crawl ${id}`}
                text="Cancel crawl"
                danger
                askReason
              />
            </details>
          )}
        </>
      )}
    </div>
  );
}

export function DomainActions({ domain, isPaused }: { domain: string; isPaused: boolean }) {
  const about = { domain, back: `/domains/${encodeURIComponent(domain)}` };
  return (
    <div class="actions">
      {isPaused ? (
        <OrderForm kind="resume" {...about} label={`Resume ${domain}`} text="Resume" askReason />
      ) : (
        <OrderForm kind="pause" {...about} label={`Pause ${domain}`} text="Pause" askReason />
      )}
      <details class="confirm" id="delay">
        <summary class="button">Delay</summary>
        <OrderForm kind="delay" {...about} label={`Set delay of ${domain}`} text="Set delay" askReason>
          <input
            name="delay"
            size={9}
            placeholder="10s, 5s-15s"
            aria-label={`Delay of ${domain}; empty for none`}
          />
        </OrderForm>
      </details>
      <details class="confirm" id="reset">
        <summary class="button">Reset</summary>
        <OrderForm
          kind="reset"
          {...about}
          label={`Forget delay, backoff and statistics of ${domain}`}
          text="Forget delay, backoff and statistics"
          danger
          askReason
        />
      </details>
      <a class="button" href={`/orders?domain=${encodeURIComponent(domain)}`}>
        Orders
      </a>
    </div>
  );
}
