internal import ManagedModel

extension ManagedObjectModel {
    /// The model as one that has no predecessor.
    var withoutRenamingIdentifiers: ManagedObjectModel {
        var model = self
        model.earlierVersions = []
        for entity in model.entities.indices {
            model.entities[entity].renamingIdentifier = nil
            for index in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[index].renamingIdentifier = nil
            }
            for index in model.entities[entity].relationships.indices {
                model.entities[entity].relationships[index].renamingIdentifier = nil
            }
        }
        for composite in model.composites.indices {
            for index in model.composites[composite].attributes.indices {
                model.composites[composite].attributes[index].renamingIdentifier = nil
            }
        }
        return model
    }
}
