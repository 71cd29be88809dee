/** What an operator can do about a crawl or a domain. */
import type { CrawlStatus } from '../../core/outcome.ts';
import { OrderForm } from './orders.tsx';
import { crawlAddress } from './parts.tsx';

/** `back`: the page to return to. */
export function CrawlActions({ id, status, back }: { id: string; status: CrawlStatus; back: string }) {
  const about = { crawl: id, back };
  const address = crawlAddress(id);
  const isOpen = status === 'Running' || status === 'Paused';
  return (
    <div class="actions">
      {status === 'Running' && <OrderForm kind="pause" {...about} label={`Pause ${id}`} text="Pause" />}
      {status === 'Paused' && <OrderForm kind="resume" {...about} label={`Resume ${id}`} text="Resume" />}
      {back === address && (
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
                label={`End ${id} for good`}
                text="End for good"
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
        <OrderForm kind="resume" {...about} label={`Resume ${domain}`} text="Resume" />
      ) : (
        <OrderForm kind="pause" {...about} label={`Pause ${domain}`} text="Pause" askReason />
      )}
      <OrderForm kind="delay" {...about} label={`Set delay of ${domain}`} text="Set delay">
        <input
          name="delay"
          size={9}
          placeholder="10s, 5s-15s"
          aria-label={`Delay of ${domain}; empty for none`}
        />
      </OrderForm>
      <OrderForm kind="reset" {...about} label={`Reset ${domain}`} text="Reset" />
      <a class="button" href={`/orders?domain=${encodeURIComponent(domain)}`}>
        Orders
      </a>
    </div>
  );
}
