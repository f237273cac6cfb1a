"""Kernels for a graphics card: a worker is a thread of the GPU.

A kernel's share is compiled as always, up to LLVM's intermediate code; what is made of that here is not the processor's
machine code but PTX, the assembly language that NVIDIA's drivers take. So there is one text of every formula, one typing of
it and one lowering, for processors and for GPUs, and no toolkit is needed: llvmlite has the back end, the driver the rest.

    worker, workers    the thread's number among all threads of the launch, and how many shares there are
    arguments          one record, each leaf in eight bytes: what numbers and arrays consist of (`leaves_of`)

Nothing is contracted: every product and sum is rounded by itself (`mul.rn`, `add.rn`, which the driver may not fuse), and so
are quotients and roots (`div.rn`, `sqrt.rn`); numbers below the smallest normal one stay. docs/design/gpu.md has how that
was tested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from llvmlite import binding, ir
from numba import types

from crowd_demo.compute import llvm, numba_private

TRIPLE = "nvptx64-nvidia-cuda"
OLDEST = "sm_70"  # Volta; the driver translates for later GPUs
SLOT_BYTES = 8
ENTRY = "entry"
_GLOBAL = 1  # the address space of the GPU's memory


def ptx_of(share: Callable[..., None], kinds: Sequence[types.Type], model: str = OLDEST) -> str:
    """Return the PTX of a kernel whose share has arguments of these types; its function is `ENTRY`."""
    module = _linked(share, kinds)
    machine = _target().create_target_machine(cpu=model, opt=3)
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != ENTRY:
            each.linkage = "internal"
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return str(machine.emit_assembly(module))


def _target() -> binding.Target:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(TRIPLE)


def _linked(share: Callable[..., None], kinds: Sequence[types.Type]) -> binding.ModuleRef:
    """The intermediate code of a share with all that it calls, and an entry."""
    code, function = numba_private.code_of(share, kinds)
    module, entry, leaves = binding.parse_bitcode(code), ir.Module(), numba_private.leaves_of(kinds)
    _build_entry(entry, numba_private.declared(entry, function), leaves)
    by_value = f"({{}} byval([{len(leaves) + 1} x i64]) align {SLOT_BYTES} %"  # which llvmlite cannot say of an argument
    text = re.sub(rf'({ENTRY}"?)\((ptr|i64\*) %', lambda found: found[1] + by_value.format(found[2]), str(entry))
    module.link_in(binding.parse_assembly(text))
    return module


def _build_entry(module: ir.Module, body: ir.Function, leaves: Sequence[ir.Type]) -> None:
    """Add the function that each thread runs: body(worker, workers, *arguments), if there is such a worker."""
    record = ir.ArrayType(llvm.I64, len(leaves) + 1)
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [llvm.pointer_to(record)]), ENTRY)
    entry.calling_convention = "ptx_kernel"
    b = ir.IRBuilder(entry.append_basic_block())
    block, size, thread = (b.zext(b.call(llvm.function_of(b, f"llvm.nvvm.read.ptx.sreg.{name}.x", llvm.I32), []), llvm.I64)
                           for name in ("ctaid", "ntid", "tid"))
    worker = b.add(b.mul(block, size), thread)
    workers = _leaf(b, entry.args[0], 0, llvm.I64)
    with b.if_then(b.icmp_signed("<", worker, workers)):
        returned = [b.bitcast(b.alloca(llvm.I64), kind) for kind in body.function_type.args[:2]]  # nothing and no error
        arguments = [_leaf(b, entry.args[0], number, kind) for number, kind in enumerate(leaves, 1)]
        b.call(body, [*returned, worker, workers, *arguments])
    b.ret_void()


def _leaf(b: ir.IRBuilder, record: ir.Value, number: int, kind: ir.Type) -> ir.Value:
    where = llvm.element(b, llvm.I64, record, ir.Constant(llvm.I64, number))
    if not isinstance(kind, ir.PointerType):
        return llvm.load(b, kind, where)
    address = b.load(where, typ=ir.PointerType(addrspace=_GLOBAL))
    return b.addrspacecast(address, kind)
