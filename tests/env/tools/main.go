// Says what GitOps tools would make of resources: Argo CD by a health script, in the interpreter that it uses, and Flux,
// kpt and `kubectl` plugins by the library kstatus. Helm is built from the same module, as its tool.
//
// usage: judge health SCRIPT < objects      Argo CD's health of each
//
//	judge kstatus < objects            kstatus' status of each
//
// Objects are a JSON list; so is what is printed, of {"status": ..., "message": ...}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// As long as Argo CD lets a script run.
const limit = time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var judge func(map[string]any) (verdict, error)
	switch {
	case len(args) == 2 && args[0] == "health":
		script, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		judge = func(object map[string]any) (verdict, error) { return health(string(script), object) }
	case len(args) == 1 && args[0] == "kstatus":
		judge = kstatus
	default:
		return errors.New("usage: judge health SCRIPT | judge kstatus, with a JSON list of objects on standard input")
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	// Whole numbers are int64 here, as they are for both tools.
	var objects []any
	if err := kubejson.Unmarshal(input, &objects); err != nil {
		return err
	}
	verdicts := []verdict{}
	for _, item := range objects {
		object, ok := item.(map[string]any)
		if !ok {
			return errors.New("not a list of objects")
		}
		one, err := judge(object)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, one)
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}

func kstatus(object map[string]any) (verdict, error) {
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return verdict{}, err
	}
	return verdict{Status: string(result.Status), Message: result.Message}, nil
}

// health runs a script as Argo CD does: with the base and table libraries only, and the object as the global `obj`.
func health(script string, object map[string]any) (verdict, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		call := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return verdict{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return verdict{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return verdict{}, errors.New("the script returns no table")
	}
	word := func(key string) string {
		if text, ok := table.RawGetString(key).(lua.LString); ok {
			return string(text)
		}
		return ""
	}
	return verdict{Status: word("status"), Message: word("message")}, nil
}

func value(state *lua.LState, of any) lua.LValue {
	switch of := of.(type) {
	case string:
		return lua.LString(of)
	case int64:
		return lua.LNumber(of)
	case float64:
		return lua.LNumber(of)
	case bool:
		return lua.LBool(of)
	case []any:
		table := state.CreateTable(len(of), 0)
		for _, item := range of {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(of))
		for key, item := range of {
			table.RawSetString(key, value(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
