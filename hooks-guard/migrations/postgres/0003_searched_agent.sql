-- A search for text by agent reads nothing else.
ALTER TABLE searched ADD COLUMN agent TEXT;

UPDATE searched SET agent = (SELECT d.agent FROM decisions d WHERE d.id = searched.id);
