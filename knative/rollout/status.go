package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"text/tabwriter"

	"interpreter-functions/shared/routerconfig"
)

// status shows the revisions of all functions, and what the routers say of the shadows.
func (o *options) status(ctx context.Context, out io.Writer) error {
	known, err := o.routes(ctx)
	if err != nil {
		return err
	}
	logs, err := o.routerLogs(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PATH\tOPERATION\tSTABLE\tCANDIDATE\tOF OBJECTS\tSHADOW OF\tCOMPARED\tDIFFERED\tFAILED\tDROPPED")
	for _, route := range known.config.Routes {
		for _, name := range names(&route) {
			function := route.Functions[routerconfig.Operation(name)]
			s, err := get[service](ctx, o, "ksvc/"+serviceName(function))
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s", route.Path, name, s.stable(), s.candidate(), percent(function.Candidate), percent(function.Shadow))
			if function.Shadow != nil {
				for _, what := range []string{"compared", "differed", "failed", "dropped"} {
					fmt.Fprintf(table, "\t%d", total(logs, string(route.Path), name, what))
				}
			}
			fmt.Fprintln(table)
		}
	}
	return table.Flush()
}

func percent(share *routerconfig.Share) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf("%d %%", *share.Percent)
}

// total sums up what the routers say last of the shadow of a function.
func total(logs []string, path, operation, what string) int {
	count := regexp.MustCompile(`\b` + what + `=(\d+)`)
	sum := 0
	for _, log := range logs {
		line := lastLine(log, " shadow ", "operation="+operation+" ", "path="+path+" ")
		if found := count.FindStringSubmatch(line); found != nil {
			n, _ := strconv.Atoi(found[1]) // it is digits
			sum += n
		}
	}
	return sum
}
