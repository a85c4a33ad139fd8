"""Public checkpoints against the `transformers` library: its models read by ours, and ours by it; `make oracle`."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import load_file, save_file

from minitransformer.inside import logit_lens, opened
from minitransformer.language_model import generate, new_writer
from minitransformer.pretrained import load_pretrained, save_pretrained
from minitransformer.pretrained.layouts import choices_of, sizes_of
from minitransformer.today import Decoder

SMALL = {"vocab_size": 61, "bos_token_id": None, "eos_token_id": None}
WIDE = SMALL | {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 3, "num_attention_heads": 6}
GROUPED = WIDE | {"num_key_value_heads": 2, "rms_norm_eps": 1e-3}  # an eps that shows where it is not read
SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCALING |= {"original_max_position_embeddings": 16, "rope_theta": 50.0}
NARROW = {"n_embd": 24, "n_layer": 3, "n_head": 6, "n_positions": 40}
MODELS = {
    "gpt2": ("GPT2", SMALL | NARROW),
    "gpt2, untied, another width": ("GPT2", SMALL | NARROW | {"tie_word_embeddings": False, "n_inner": 50}),
    "llama": ("Llama", GROUPED),
    "llama, tied": ("Llama", GROUPED | {"tie_word_embeddings": True}),
    "llama, heads of another width": ("Llama", GROUPED | {"head_dim": 6}),
    "llama, biases": ("Llama", GROUPED | {"attention_bias": True}),
    "llama, one group for each head": ("Llama", WIDE),
    "llama, scaled": ("Llama", GROUPED | {"head_dim": 16, "rope_parameters": SCALING}),
    "mistral, a window": ("Mistral", GROUPED | {"sliding_window": 5}),
    "qwen2": ("Qwen2", GROUPED),
    "qwen2, tied, another base": ("Qwen2", GROUPED | {"tie_word_embeddings": True, "rope_theta": 1e6}),
    "qwen3": ("Qwen3", GROUPED | {"head_dim": 8}),
    "qwen3, tied": ("Qwen3", GROUPED | {"head_dim": 8, "tie_word_embeddings": True}),
}
IDS = np.random.default_rng(0).integers(0, 61, (2, 30))
EVERY = pytest.mark.parametrize("name", MODELS)


def theirs_of(name):
    """Return a model of the library with random parameters: matrices, and gains and biases too."""
    kind, options = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, f"{kind}ForCausalLM" if kind != "GPT2" else "GPT2LMHeadModel")(
        getattr(transformers, f"{kind}Config")(**options)
    ).eval()
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape) * (0.2 if parameter.ndim > 1 else 0.5) + (parameter.ndim == 1)
    model.tie_weights()
    return model


def logits_of(model, ids=IDS):
    with torch.no_grad():
        return model(torch.tensor(ids)).logits.numpy()


def close(ours, theirs, limit=1e-4):
    """Hold numbers to a limit, which is relative where they are large."""
    np.testing.assert_allclose(ours, theirs, rtol=limit, atol=limit)


@EVERY
def test_a_model_of_the_library_has_the_same_logits_in_ours(name, tmp_path):
    theirs = theirs_of(name)
    theirs.save_pretrained(tmp_path)
    ours, encoding = load_pretrained(tmp_path)
    assert encoding is None and ours.flat.dtype == np.float32 and isinstance(ours, Decoder)
    close(ours(IDS), logits_of(theirs))
    close(opened(ours, IDS)["logits"], logits_of(theirs))


@EVERY
def test_it_writes_the_same_tokens_with_a_cache(name, tmp_path):
    theirs = theirs_of(name).double()
    theirs.save_pretrained(tmp_path)
    ours, _ = load_pretrained(tmp_path, dtype=np.float64)
    found = theirs.generate(torch.tensor(IDS[:, :9]), max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert generate(ours, IDS[:, :9], 20).tolist() == found.tolist()
    close(ours(IDS), logits_of(theirs), 1e-5)  # the library's norms and turns are float32 even so


@EVERY
def test_ours_is_read_back_by_the_library_and_by_us(name, tmp_path):
    theirs = theirs_of(name)
    theirs.save_pretrained(tmp_path / "one")
    ours, _ = load_pretrained(tmp_path / "one")
    save_pretrained(ours, tmp_path / "two")
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "two")
    assert type(again) is type(theirs)
    assert all(torch.equal(a, b) for a, b in zip(again.state_dict().values(), theirs.state_dict().values()))
    close(logits_of(again), logits_of(theirs), 1e-6)
    assert (load_pretrained(tmp_path / "two")[0].flat == ours.flat).all()


@EVERY
def test_what_is_found_inside_is_what_the_library_finds(name, tmp_path):
    theirs = theirs_of(name)
    theirs.set_attn_implementation("eager")
    theirs.save_pretrained(tmp_path)
    found = opened(load_pretrained(tmp_path)[0], IDS)
    with torch.no_grad():
        told = theirs(torch.tensor(IDS), output_hidden_states=True, output_attentions=True)
    streams = [found["embedded"], found["1 feed_forward output"], found["2 feed_forward output"], found["output"]]
    for ours, right in zip(streams, told.hidden_states):
        close(ours, right.numpy())
    for layer, right in enumerate(told.attentions, 1):
        close(found[f"{layer} attention weights"], right.numpy())
    close(logit_lens(found["stream"], load_pretrained(tmp_path)[0]), told.logits.numpy())


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_half_precision_is_read_number_for_number(kind, tmp_path):
    theirs = theirs_of("qwen3, tied").to(kind)
    theirs.save_pretrained(tmp_path)
    ours, _ = load_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == str(kind).removeprefix("torch.")
    assert (ours.params["embedding"] == theirs.get_input_embeddings().weight.float().detach().numpy()).all()
    wide = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    close(ours(IDS), logits_of(wide))


def test_shards_are_read_as_one_file_is(tmp_path):
    theirs = theirs_of("llama")
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    close(load_pretrained(tmp_path)[0](IDS), logits_of(theirs))


def test_a_base_model_without_its_first_names_is_read(tmp_path):
    theirs = theirs_of("gpt2")
    theirs.transformer.save_pretrained(tmp_path)
    assert "wte.weight" in load_file(tmp_path / "model.safetensors")
    close(load_pretrained(tmp_path)[0](IDS), logits_of(theirs))


# What real folders have besides


def written(folder, change):
    """Let a function change a folder's config.json, a dict."""
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def with_a_wrong_label(folder, arrays):
    written(folder, lambda config: config.update(dtype="bfloat16", torch_dtype="float16"))


def with_old_angles(folder, arrays):
    more = {"model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(2, np.float32)}
    save_file(arrays | more, folder / "model.safetensors", metadata={"format": "pt"})


def with_a_head_listed_that_may_be_tied(folder, arrays):
    (folder / "model.safetensors").unlink()
    places = {name: f"model-0000{1 + number % 2}-of-00002.safetensors" for number, name in enumerate(sorted(arrays))}
    for file in {*places.values()}:
        here = {name: array for name, array in arrays.items() if places[name] == file}
        save_file(here, folder / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {"lm_head.weight": file} | places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def with_what_is_usual_left_out(folder, arrays):
    """Take out of config.json whatever the library would take there by itself."""
    usual = getattr(transformers, transformers.AutoConfig.from_pretrained(folder).__class__.__name__)().to_dict()

    def change(config):
        for name in {*config} - {"model_type"}:
            if config[name] == usual.get(name) or config[name] is None:
                del config[name]

    written(folder, change)


FOLDERS = [with_a_wrong_label, with_old_angles, with_a_head_listed_that_may_be_tied, with_what_is_usual_left_out]


@EVERY
@pytest.mark.parametrize("change", FOLDERS)
def test_a_folder_is_read_as_the_library_reads_it(change, name, tmp_path):
    theirs_of(name).save_pretrained(tmp_path)
    change(tmp_path, load_file(tmp_path / "model.safetensors"))
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    close(load_pretrained(tmp_path)[0](IDS), logits_of(theirs))


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "qwen2", "qwen3"])
def test_what_a_configuration_leaves_out_is_the_librarys(family):
    told = {"model_type": family}
    theirs, sizes = transformers.AutoConfig.for_model(family), sizes_of(told)
    ours = choices_of(told, sizes)
    names = {"vocabulary": "vocab_size", "d": "hidden_size", "heads": "num_attention_heads"}
    names |= {"layers": "num_hidden_layers", "tied": "tie_word_embeddings"}
    if family == "gpt2":
        assert sizes["positions"] == theirs.n_positions and ours["eps"] == theirs.layer_norm_epsilon
    else:
        names |= {"hidden": "intermediate_size", "groups": "num_key_value_heads"}
        width = getattr(theirs, "head_dim", theirs.hidden_size // theirs.num_attention_heads)
        window = None if family in ("qwen2", "qwen3") else getattr(theirs, "sliding_window", None)
        assert (sizes["width"], ours["window"], ours["eps"]) == (width, window, theirs.rms_norm_eps)
        assert ours["rotate"].keywords == {"base": theirs.rope_parameters["rope_theta"]}
    assert {name: sizes[name] for name in names} == {name: getattr(theirs, there) for name, there in names.items()}


@pytest.mark.parametrize("d, heads", [(64, 4), (24, 2)])
def test_the_models_of_chapter_16_run_in_the_library(d, heads, tmp_path):
    ours = new_writer(rng=0, d=d)
    ours.flat += np.random.default_rng(1).normal(size=ours.flat.size).astype(np.float32) * 0.1
    save_pretrained(ours, tmp_path / "writer")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "writer")
    assert type(theirs).__name__ == "GPTNeoXForCausalLM"
    close(logits_of(theirs), ours(IDS))
    found = theirs.generate(torch.tensor(IDS[:, :9]), max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert generate(ours, IDS[:, :9], 20).tolist() == found.tolist()
