import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelReader

/// One input of libFuzzer: the bytes of a model file. They are refused with an error, or give a model that holds together
/// and that everything that takes a model can use. `Scripts/fuzz` builds and runs this.
@c(LLVMFuzzerTestOneInput)
public func takeOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = Data(UnsafeBufferPointer(start: start, count: count))
    do throws(ModelReaderError) {
        use(try ModelReader.read(data: data, name: "Model"))
    } catch {
        precondition(!error.message.isEmpty, "An error says nothing: \(error.code).")
        precondition((error.line ?? 1) > 0, "Lines are counted from 1.")
    }
    return 0
}

private func use(_ document: ModelDocument) {
    let model = document.model
    do {
        try model.validate()
    } catch {
        preconditionFailure("The reader let through what is no valid model: \(error)")
    }
    precondition(document.diagnostics.allSatisfy { $0.line > 0 }, "Lines are counted from 1.")
    var reversed = model
    reversed.entities.reverse()
    precondition(model.hash == reversed.hash, "The order of the entities reaches the hash.")
    precondition(model.entityHashes.count == model.entities.count, "An entity has no hash.")
    // What these cost depends on the size of the model, of which the reader allows more than is of use here.
    guard model.entities.count <= 64 else { return }
    for entity in model.entities {
        let names = model.columns(of: entity).map(\.name)
        precondition(Set(names).count == names.count, "Two columns of \(entity.name) share a name.")
    }
    for codeGeneration in [nil, CodeGeneration.class] {
        let text = ModelCodeGenerator(codeGeneration: codeGeneration).source(for: model)
        precondition(!text.isEmpty, "No code is generated.")
    }
}
