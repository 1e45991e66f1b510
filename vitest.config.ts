import { defineConfig } from 'vitest/config'

const WITH_REAL_DSH = [
  'test/host/headless*.test.ts',
  'test/web/**/*.test.ts',
  'test/scripts/**/*.test.ts',
  'test/faults/**/*.test.ts',
]

/** The tests run these as what they are, in a dsh or a child of its own, where nothing is counted. */
const IN_OTHER_PROCESSES = [
  'src/agy/hooks/program.ts',
  'src/cli/main.ts',
  'src/host/commands.ts',
  'src/host/preset-roots.ts',
  'src/preset.ts',
  // Types, and a function that is never called.
  'src/engine/contract.ts',
]

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // A golden file that is missing is a failure, not one more file.
    update: 'none',
    // `npm test` measures it and holds each file to the floor; a run of chosen files does not.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: IN_OTHER_PROCESSES,
      reporter: ['json-summary'],
      thresholds: { perFile: true, lines: 70, statements: 70, functions: 50 },
    },
    projects: [
      { extends: true, test: { name: 'rooms', include: ['test/**/*.test.ts'], exclude: WITH_REAL_DSH } },
      {
        extends: true,
        test: {
          name: 'real dsh',
          include: WITH_REAL_DSH,
          // One installation, prepared once, from which each test copies its home.
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 180_000,
          maxConcurrency: 3,
        },
      },
    ],
  },
})
