import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // In development the service is asked through this server, so the page needs no address but its own.
  server: { proxy: { '/v1': process.env.HEXCODES ?? 'http://127.0.0.1:8080' } },
});
