// Command benchmark measures launches of skillrun against bare ones and
// bubblewrap's, and ordinary work inside against the same outside, all in one
// run and interleaved, since machines differ and are noisy: it prints medians
// and their ratios. docs/performance.md says what each line means.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("benchmark: ")
	skillrun := flag.String("skillrun", "skillrun", "the `program` to measure")
	rounds := flag.Int("rounds", 80, "launches of each kind; 0 leaves them out")
	many := flag.Int("many", 400, "launches of each kind for the measurement of throughput; 0 leaves it out")
	work := flag.Int("work", 5, "rounds of each piece of ordinary work; 0 leaves it out")
	connects := flag.Int("network", 20, "rounds of each measurement of the network; 0 leaves them out")
	role := flag.Bool("client", false, "be the client of a measurement of the network")
	flag.Parse()
	if *role {
		if err := client(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := benchmark(*skillrun, *rounds, *many, *connects, *work); err != nil {
		log.Fatal(err)
	}
}

func benchmark(skillrun string, rounds, many, connects, work int) error {
	path, err := exec.LookPath(skillrun)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	w, err := newWorld(path)
	if err != nil {
		return err
	}
	defer w.remove()
	for _, part := range []struct {
		rounds  int
		measure func(rounds int) error
	}{
		{rounds, w.launches},
		{many, w.throughput},
		{rounds, w.decisions},
		{1, func(int) error { return w.memory() }},
		{connects, w.network},
		{work, w.works},
	} {
		if part.rounds == 0 {
			continue
		}
		if err := part.measure(part.rounds); err != nil {
			return err
		}
	}
	return nil
}

// launches measures one launch of each kind a round, in a random order, so
// that what one leaves to the kernel to clean up is charged to no other.
func (w *world) launches(rounds int) error {
	kinds := w.kinds()
	times := make([][]time.Duration, len(kinds))
	order := make([]int, len(kinds))
	for i := range order {
		order[i] = i
	}
	const warm = 5
	for round := range warm + rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			d, err := w.launch(kinds[i].argv, os.DevNull, os.Stdout)
			if err != nil {
				return fmt.Errorf("%s: %w", kinds[i].name, err)
			}
			if round >= warm {
				times[i] = append(times[i], d)
			}
		}
	}
	of := map[string]time.Duration{}
	for i, k := range kinds {
		of[k.name] = median(times[i])
	}
	fmt.Printf("one launch, medians of %d interleaved rounds\n", rounds)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tms\tx bare\tx bwrap full\tover bare, x bare true")
	bare := of["true, bare"]
	for _, k := range kinds {
		program, _, _ := strings.Cut(k.name, ",")
		base, full := of[program+", bare"], of[program+", bwrap full"]
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\n", k.name, float64(of[k.name])/1e6, ratio(of[k.name], base), ratio(of[k.name], full), ratio(of[k.name]-base, bare))
	}
	return t.Flush()
}

// throughput measures many launches, four at a time, in blocks that alternate.
func (w *world) throughput(many int) error {
	const blocks, workers = 4, 4
	kinds := slices.DeleteFunc(w.kinds(), func(k kind) bool { return !strings.HasPrefix(k.name, "true,") || k.name == "true, bwrap minimal" })
	total := make([]time.Duration, len(kinds))
	for range blocks {
		for i, k := range kinds {
			errs := make(chan error, workers)
			start := time.Now()
			for worker := range workers {
				n := many / blocks / workers
				if worker < many/blocks%workers {
					n++
				}
				go func() {
					var err error
					for range n {
						if _, err = w.launch(k.argv, os.DevNull, os.Stdout); err != nil {
							break
						}
					}
					errs <- err
				}()
			}
			for range workers {
				if err := <-errs; err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
			}
			total[i] += time.Since(start)
		}
	}
	fmt.Printf("\n%d launches, %d at a time\n", many/blocks*blocks, workers)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tms each\tx bare\tx bwrap full")
	bare, full := total[0], total[len(total)-1]
	for i, k := range kinds {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\n", k.name, float64(total[i])/1e6/float64(many), ratio(total[i], bare), ratio(total[i], full))
	}
	return t.Flush()
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
