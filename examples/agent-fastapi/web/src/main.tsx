import { type CallState, useRunParts } from "jsonrill/react";
import { type FormEvent, useState } from "react";
import { createRoot } from "react-dom/client";

function post(url: string, body: unknown) {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

function App() {
  const [id, setId] = useState(location.hash.slice(1)); // so that a page that is loaded again finds it
  const url = id && `/api/trips/${id}`;
  const { parts, status, error } = useRunParts(url || null);

  async function begin(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wish = new FormData(event.currentTarget).get("wish");
    const begun = await (await post("/api/trips", { wish })).json();
    location.hash = begun.id;
    setId(begun.id);
  }

  const decide = (call: CallState, decision: boolean) => post(`${url}/decisions`, { call: call.id, decision });
  return (
    <main>
      <form onSubmit={begin}>
        <input name="wish" aria-label="Your wish" defaultValue="A week where it is warm" />
        <button>Ask</button> <output>{status}</output>
      </form>
      {parts.map((part) => (
        <section key={part.index} className={part.kind}>
          {part.kind === "text" && <p>{part.text}</p>}
          {part.kind === "call" && <code>{`${part.call.name}(${part.call.raw})`}</code>}
          {part.kind === "call" && part.status === "waiting" && (
            <p>
              May it? <button onClick={() => decide(part.call, true)}>Yes</button>
              <button onClick={() => decide(part.call, false)}>No</button>
            </p>
          )}
          {part.kind === "result" && <pre>{part.error ?? JSON.stringify(part.result)}</pre>}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
    </main>
  );
}

createRoot(document.getElementById("root")!).render(<App />);
