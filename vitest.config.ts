import { defineConfig } from 'vitest/config'

const WITH_REAL_DSH = [
  'test/host/headless*.test.ts',
  'test/web/**/*.test.ts',
  'test/scripts/**/*.test.ts',
  'test/faults/**/*.test.ts',
]

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // A golden file that is missing is a failure, not one more file.
    update: 'none',
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
