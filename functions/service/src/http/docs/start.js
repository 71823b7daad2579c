// Starts the renderer of the API reference.
'use strict';

// A problem's `type` is `/docs#not-found`; the renderer puts its headings under `description/`.
const slug = location.hash.slice(1);
if (/^[a-z][a-z-]*$/.test(slug)) history.replaceState(null, '', `#description/${slug}`);

Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Samples in three languages that most readers know; the rest would bury them.
  hiddenClients: {
    c: true, clojure: true, csharp: true, dart: true, fsharp: true, go: true, http: true, java: true,
    kotlin: true, node: true, objc: true, ocaml: true, php: true, powershell: true, r: true, ruby: true,
    rust: true, swift: true, shell: ['httpie', 'wget'], js: ['axios', 'jquery', 'ofetch', 'xhr'],
    python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
  },
});
