import { type DeepPartial, type ToolCall, partial } from "jsonrill";
import { type PartsState, useParts } from "jsonrill/react";
import { type FormEvent, memo, useMemo, useRef, useState } from "react";

interface Trip {
  title: string;
  days: Day[];
}
interface Day {
  city: string;
  activities: { time: string; title: string }[];
}
interface Booking {
  what: string;
  city: string;
  date: string;
}

/** Keep the trip's id in the URL, so that the page finds it again after a reload. */
const idOfPage = () => location.hash.slice(1) || null;

export function App() {
  const [id, setId] = useState(idOfPage);
  const [problem, setProblem] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const url = id && `/api/trips/${id}`;
  const answer = useParts(url);
  const trip = useMemo(() => partial<Trip>(answer.text), [answer.text]);
  const error = problem || answer.error?.message;
  const isBusy = answer.isLoading;

  async function plan(event?: FormEvent) {
    event?.preventDefault();
    const wish = new FormData(form.current!).get("wish");
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ wish }) };
    const response = await fetch("/api/trips", init).catch(() => null);
    setProblem(response?.ok ? "" : response ? `The server answered ${response.status}.` : "The server cannot be reached.");
    if (!response?.ok) return;
    const { id: next } = await response.json();
    history.replaceState(null, "", `#${next}`);
    setId(next);
  }

  return (
    <main>
      <form ref={form} onSubmit={plan}>
        <input name="wish" aria-label="Your wish" defaultValue="Four days in the Alps, by train" />
        <button disabled={isBusy}>Plan</button>
        <button type="button" disabled={!isBusy} onClick={() => url && fetch(url, { method: "DELETE" })}>
          Stop
        </button>
        <output>{id === null ? "" : statusOf(answer)}</output>
      </form>
      {error && (
        <p role="alert">
          {error} <button onClick={() => plan()}>Try again</button>
        </p>
      )}
      {answer.parts.map((part) => part.kind === "reasoning" && <blockquote key={part.index}>{part.text}</blockquote>)}
      {trip && <Plan trip={trip} isBusy={isBusy} />}
      <section className="cards">
        {answer.parts.map((part) => part.kind === "call" && <Card key={part.index} call={part.call} />)}
      </section>
    </main>
  );
}

function statusOf({ status, connection, parts }: PartsState) {
  if (status === "complete" && parts.length === 0) return "there is no such trip";
  return status === "streaming" && connection === "waiting" ? "reconnecting" : status;
}

function Plan({ trip, isBusy }: { trip: DeepPartial<Trip>; isBusy: boolean }) {
  return (
    <article aria-busy={isBusy}>
      <h1>{trip.title}</h1>
      <div className="days">
        {trip.days?.map((day, index) => (
          <DayView key={index} number={index + 1} day={day} />
        ))}
      </div>
    </article>
  );
}

const DayView = ({ number, day }: { number: number; day: DeepPartial<Day> }) => (
  <section className="day">
    <h2>
      Day {number} <span>{day.city}</span>
    </h2>
    <ul>
      {day.activities?.map((activity, index) => (
        <li key={index}>
          <time>{activity.time}</time> {activity.title}
        </li>
      ))}
    </ul>
  </section>
);

const Card = memo(({ call }: { call: ToolCall }) => {
  const booking: Partial<Booking> = call.args ?? {};
  return (
    <div className={`card ${call.status}`}>
      <h3>
        {call.name} <small>{call.status}</small>
      </h3>
      <p>
        {booking.what} {booking.city && `in ${booking.city}`} <time>{booking.date}</time>
      </p>
      {call.error && <p role="alert">{call.error.message}</p>}
      {call.result !== undefined && <p>{String(call.result)}</p>}
    </div>
  );
});
