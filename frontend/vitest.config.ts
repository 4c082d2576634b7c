import { defineConfig } from "vitest/config";

// One worker and one page for all files: a page for each takes three times as long as the tests themselves.
export default defineConfig({
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    pool: "threads",
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
  },
});
